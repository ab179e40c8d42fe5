import { afterEach, describe, expect, it } from "vitest";
import { waits } from "../../../src/core/explain/waits.ts";
import type { Json } from "../../../src/core/values/json.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import { workflow } from "../../engine/cancelling.fixture.ts";
import { closeAll } from "../runtime.fixture.ts";
import { Situation, verdicts } from "./situations.fixture.ts";

afterEach(closeAll);

const approval = workflow("deploy", { approve: "ask", deploy: { type: "set", data: "deployed" } }, ["approve>deploy"]);
const minute = 60_000;

describe("an approval that is given more than once", () => {
  it("by a double click deploys once, and the second click is told that it came late (mastra#20443)", async () => {
    const situation = new Situation(approval);
    const run = await situation.start();
    const clicks = [run.resume({ step: "approve", payload: "yes" }), run.resume({ step: "approve", payload: "yes" })];
    expect(verdicts(await Promise.allSettled(clicks))).toEqual(["WAIT_GONE", "applied"]);
    await situation.pass();
    expect(situation.ran).toEqual(["approve", "approve resumed", "deploy"]);
  });

  it("to two workers at the same moment is taken by one of them, whoever handles it (mastra#24590)", async () => {
    const situation = new Situation(approval);
    const run = await situation.start();
    const runs = [run, await situation.elsewhere(), await situation.elsewhere()];
    const answers = runs.map((each, i) => each.resume({ step: "approve", payload: `by ${i}` }));
    // on a slow machine the execution has ended before the last answer is decided
    const told = verdicts(await Promise.allSettled(answers)).map((verdict) => (verdict === "EXECUTION_ENDED" ? "WAIT_GONE" : verdict));
    expect(told.sort()).toEqual(["WAIT_GONE", "WAIT_GONE", "applied"]);
    await situation.pass();
    expect(situation.ran).toEqual(["approve", "approve resumed", "deploy"]);
    expect(await situation.given()).toMatchObject({ approve: [expect.stringMatching(/^by \d$/)], deploy: ["deployed"] });
  });

  it("by a retried HTTP request is one answer to both, and the next question can be answered again (mastra#20512)", async () => {
    const twice = workflow("twice", { first: "ask", second: "ask", done: "noop" }, ["first>second", "second>done"]);
    const situation = new Situation(twice);
    const run = await situation.start();
    const elsewhere = await situation.elsewhere();
    for (const step of ["first", "second"]) {
      const request = { step, payload: { ok: true }, idempotencyKey: `request ${step}` };
      expect(verdicts(await Promise.allSettled([run.resume(request), elsewhere.resume(request)]))).toEqual(["applied", "repeated"]);
      await situation.pass();
      expect(await run.resume(request)).toEqual({ applied: false });
    }
    expect(situation.ran).toEqual(["first", "first resumed", "second", "second resumed", "done"]);
  });

  it("by two tabs that both saw it waiting deploys once, though both had looked before (mastra#21394)", async () => {
    const situation = new Situation(approval);
    const tabs = [await situation.start(), await situation.elsewhere()];
    const seen = await Promise.all(tabs.map(async (tab) => waits(await tab.snapshot())));
    expect(seen.map((open) => open.length)).toEqual([1, 1]);
    const results: PromiseSettledResult<{ applied: boolean }>[] = [];
    for (const [i, tab] of tabs.entries()) {
      results.push(...(await Promise.allSettled([tab.resume({ waitId: seen[i]![0]!.id, payload: i })])));
      await situation.pass();
    }
    expect(verdicts(results)).toEqual(["EXECUTION_ENDED", "applied"]);
    expect(situation.times("deploy")).toBe(1);
  });

  it("while two people watch ends both their streams (mastra#20429)", async () => {
    const situation = new Situation(approval);
    const run = await situation.start();
    const watch = async (watched: Run): Promise<string[]> => {
      const types: string[] = [];
      for await (const { event } of watched.watch()) types.push(event.type);
      return types;
    };
    const streams = [watch(run), watch(run), watch(await situation.elsewhere())];
    await Promise.allSettled([run.resume({ payload: 1 }), run.resume({ payload: 2 })]);
    await situation.pass(5_000);
    const whole = ["started", "suspended", "resumed", "completed", "completed"];
    expect(await Promise.all(streams)).toEqual([whole, whole, whole]);
  });
});

describe("an execution that goes on after a wait", () => {
  it("begins at the step that waited, not at those before it (mastra#4630)", async () => {
    const line = workflow("line", { fetch: "noop", analyse: "noop", review: "ask", publish: "noop" }, [
      "fetch>analyse",
      "analyse>review",
      "review>publish",
    ]);
    const situation = new Situation(line);
    await situation.start();
    await situation.answer(await situation.restart(), "review", "fine");
    expect(situation.ran).toEqual(["fetch", "analyse", "review", "review resumed", "publish"]);
  });

  it("gives the step the output of the one before it, not the input of the workflow (mastra#16051)", async () => {
    const seen: Json[] = [];
    const inner = workflow(
      "inner",
      { double: { type: "set", data: { value: "{{ input.value * 2 }}" } }, check: { type: "check", data: "{{ $json }}" } },
      ["double>check"],
    );
    const nested = workflow(
      "outer",
      { sub: { type: "workflow", data: { workflow: "inner", input: { value: "{{ input.value }}" } } } },
      [],
      {
        workflows: { inner },
      },
    );
    const situation = new Situation(nested, {
      check: (data, step) => {
        seen.push(data);
        return step.resumed ? { data } : step.suspend();
      },
    });
    await situation.start({ value: 5 });
    const run = await situation.restart();
    await situation.answer(run, "sub/check", "ok");
    expect(seen).toEqual([{ value: 10 }, { value: 10 }]);
    expect(await run.result()).toEqual({ value: 10 });
  });

  it("gives the step its input again where data was reshaped before it (mastra#11505)", async () => {
    const seen: Json[] = [];
    const shape = { type: "set", data: { treatments: "{{ input.list.map(x => x.name) }}", condition: "{{ input.condition }}" } };
    const shaped = workflow("shaped", { shape, choose: { type: "choose", data: "{{ nodes.shape.last.data }}" } }, ["shape>choose"]);
    const situation = new Situation(shaped, {
      choose: (data, step) => {
        seen.push(data);
        return step.resumed ? { data: step.externalPayload } : step.suspend({ among: data });
      },
    });
    await situation.start({ list: [{ name: "rest" }, { name: "tea" }], condition: "cold" });
    await situation.answer(await situation.restart(), "choose", "tea");
    const data = { treatments: ["rest", "tea"], condition: "cold" };
    expect(seen).toEqual([data, data]);
    expect(situation.times("shape")).toBe(1);
  });

  it.each([
    ["n8n#13168", 70_000],
    ["n8n#14198", 3 * minute],
  ])("after a wait of more than 65 seconds hands on its data, and starts nothing again (%s)", async (_, ms) => {
    const waiting = workflow(
      "waiting",
      {
        fetch: { type: "set", data: { rows: 3 } },
        pause: { type: "wait", data: { for: ms } },
        send: { type: "set", data: "{{ nodes.fetch.last.data.rows }}" },
      },
      ["fetch>pause", "pause>send"],
    );
    const situation = new Situation(waiting);
    await situation.start();
    const run = await situation.restart();
    await situation.pass(ms - 100);
    expect(situation.ran).toEqual(["fetch", "pause"]);
    await situation.pass(2_000);
    expect(situation.ran).toEqual(["fetch", "pause", "pause resumed", "send"]);
    expect(await run.result()).toBe(3);
  });

  it("makes no part of a step again that asks several things in turn (langgraph#4172)", async () => {
    const printed: number[] = [];
    const situation = new Situation(workflow("form", { form: "form" }), {
      form: (_data, { resumed, suspend }) => {
        // the payload of the last suspension tells how many parts are done
        const part = ((resumed?.suspendPayload as { part?: number } | undefined)?.part ?? 0) + 1;
        printed.push(part);
        return part < 3 ? suspend({ part }) : { data: "all asked" };
      },
    });
    let run = await situation.start();
    for (const answer of ["one", "two"]) {
      run = await situation.restart();
      await situation.answer(run, "form", answer);
    }
    expect(printed).toEqual([1, 2, 3]);
    expect(await run.result()).toBe("all asked");
  });
});
