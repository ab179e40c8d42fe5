import { afterEach, describe, expect, it } from "vitest";
import { defineDurable } from "../../src/durable/define-durable.ts";
import { FatalError } from "../../src/engine/node/fatal-error.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { closeAll, second, setUp } from "../runtime/runtime.fixture.ts";
import { failing, pass, started, story } from "./durable.fixture.ts";

afterEach(closeAll);

const later = (turns: number): Promise<void> =>
  turns === 0 ? Promise.resolve() : new Promise((resolve) => setImmediate(() => resolve(later(turns - 1))));

describe("steps of durable code", () => {
  it("are performed one after the other, each with one event", async () => {
    const workflow = defineDurable({
      id: "sum",
      async run({ step }) {
        let sum = 0;
        for (let n = 1; n <= 3; n++) sum += await step.run("add", () => n);
        return { sum };
      },
    });
    const { run } = await started(workflow);
    expect(await run.result()).toEqual({ sum: 6 });
    expect(await story(run)).toEqual(["started", "completed add", "completed add", "completed add", "completed sum"]);
    expect((await run.snapshot()).context.add!.map(({ output, pathId }) => [pathId, output])).toEqual([
      ["0.1", 1],
      ["0.2", 2],
      ["0.3", 3],
    ]);
  });

  it("work in the stateless engine, from snapshot to snapshot", async () => {
    const workflow = defineDurable({
      id: "ask",
      waits: { name: { type: "string" } },
      async run({ step }) {
        const first = (await step.waitFor("name")) as string;
        const second = (await step.waitFor("name")) as string;
        return `${first} ${second}`;
      },
    });
    const engine = new WorkflowEngine({ workflow });
    const asked = await engine.execute({});
    const again = await engine.execute({ snapshot: JSON.parse(JSON.stringify(asked)), externalPayload: "Ada" });
    const done = await engine.execute({ snapshot: JSON.parse(JSON.stringify(again)), externalPayload: "Lovelace" });
    expect([asked.status, again.status, done.status, done.output]).toEqual(["paused", "paused", "completed", "Ada Lovelace"]);
    await expect(engine.execute({ snapshot: asked, externalPayload: 7 })).rejects.toMatchObject({ code: "RESUME_INVALID" });
  });

  it("run at once with Promise.all, and give their results in the order in which they were asked for", async () => {
    const ended: string[] = [];
    const workflow = defineDurable({
      id: "all",
      run: ({ step }) =>
        Promise.all(
          ["slow", "quick"].map((name, i) =>
            step.run(name, async () => {
              await later(i === 0 ? 20 : 1);
              ended.push(name);
              return name;
            }),
          ),
        ),
    });
    const { run } = await started(workflow);
    expect([await run.result(), ended]).toEqual([
      ["slow", "quick"],
      ["quick", "slow"],
    ]);
  });

  it("end with allSettled and any as with other promises", async () => {
    const workflow = defineDurable({
      id: "settle",
      async run({ step }) {
        const settled = await Promise.allSettled([
          step.run("good", () => 1),
          step.run("bad", () => {
            throw new Error("no");
          }),
        ]);
        const any = await Promise.any([
          step.run("worse", () => Promise.reject(new Error("no"))),
          step.run("better", () => later(3).then(() => 2)),
        ]);
        return { statuses: settled.map(({ status }) => status), any };
      },
    });
    const { run } = await started(workflow);
    expect(await run.result()).toEqual({ statuses: ["fulfilled", "rejected"], any: 2 });
  });

  it("end the loser of a race, and what it does later does not count", async () => {
    const aborted: string[] = [];
    const workflow = defineDurable({
      id: "contest",
      run: ({ step }) =>
        Promise.race([
          step.run("slow", async ({ signal }) => {
            signal.addEventListener("abort", () => aborted.push("slow"));
            await later(60);
            return "slow";
          }),
          step.run("quick", () => "quick"),
        ]),
    });
    const { run } = await started(workflow);
    expect(await run.result()).toBe("quick");
    await later(80);
    expect([aborted, Object.keys((await run.snapshot()).context)]).toEqual([["slow"], ["quick", "contest"]]);
  });

  it("are retried by their policy, with the same key, and are not performed again in a replay", async () => {
    const keys: string[] = [];
    let runs = 0;
    const workflow = defineDurable({
      id: "retry",
      async run({ step }) {
        runs++;
        const first = await step.run("first", () => runs);
        const flaky = await step.run("flaky", { retry: { maxAttempts: 3, interval: "10s" } }, ({ attempt, idempotencyKey }) => {
          keys.push(idempotencyKey);
          if (attempt < 3) throw new Error("not yet");
          return attempt;
        });
        return { first, flaky };
      },
    });
    const { run, environment } = await started(workflow);
    expect((await run.snapshot()).status).toBe("error");
    await pass(environment, run, 10 * second);
    await pass(environment, run, 11 * second);
    expect(await run.result()).toEqual({ first: 1, flaky: 3 });
    expect(keys).toEqual(["one/0.2#1", "one/0.2#1", "one/0.2#1"]);
    expect(runs).toBe(3);
  });

  it("throw the same error in every replay: name, message, code and details, and no stack that would differ", async () => {
    const seen: unknown[] = [];
    const workflow = defineDurable({
      id: "errors",
      async run({ step }) {
        for (const throwing of [failing().call, () => Promise.reject(new FatalError("broken", { details: { part: 7 } }))]) {
          await step.run("fails", throwing).catch((error: Error & { code?: string; details?: unknown }) => {
            const { name, message, code, details, stack } = error;
            seen.push({ name, message, code, details, stack });
          });
        }
        await step.sleep("pause", "1s");
      },
    });
    const { run, environment } = await started(workflow);
    await pass(environment, run, second);
    await run.result();
    const [first, other] = seen;
    expect(first).toEqual({ name: "TypeError", message: "not now", code: "NOT_NOW", details: undefined, stack: "TypeError: not now" });
    expect(other).toMatchObject({ name: "FatalError", message: "broken", details: { part: 7 } });
    expect(seen.slice(2)).toEqual([first, other]);
  });

  it.each([
    ["a function that throws undefined", () => Promise.reject(undefined), "undefined"],
    ["a result that is not JSON", () => 1n, "VALUE_NOT_JSON"],
    ["a result that is too large", () => "x".repeat(40_000_000), "LIMIT_EXCEEDED"],
  ])("fail catchably with %s", async (_what, perform, told) => {
    const workflow = defineDurable({
      id: "poison",
      async run({ step }) {
        try {
          await step.run("drink", perform as () => string);
        } catch (error) {
          return (error as { code?: string }).code ?? (error as Error).message;
        }
        return "nothing was thrown";
      },
    });
    const { run } = await started(workflow);
    expect(await run.result()).toBe(told);
  });

  it("refuse a name that is none, the name of the code, and settings that cannot be", async () => {
    const workflow = defineDurable({
      id: "names",
      async run({ step }) {
        const refused = [
          step.run("two words", () => 1),
          step.run("names", () => 1),
          step.run("retry", { retry: { maxAttempts: 0, interval: "1s" } }, () => 1),
          step.run("undo", { undo: { type: "refund" } }, () => 1),
          step.node("unknown", "nothing"),
          step.node("inside", "workflow", { workflow: "w" }, { retry: { maxAttempts: 2, interval: "1s" } }),
          step.node("each", "map", { workflow: "w", items: [] }, { incident: true }),
          step.sleep("sleep", "soon"),
          step.sleepUntil("until", "tomorrow"),
          step.run("nothing", undefined as never),
        ];
        const codes = (await Promise.allSettled(refused)).map((one) =>
          one.status === "rejected" ? (one.reason as { code: string }).code : "done",
        );
        return { codes, after: await step.run("after", () => "goes on") };
      },
    });
    const { run } = await started(workflow);
    const invalid = "OPTION_INVALID";
    expect(await run.result()).toEqual({
      codes: [invalid, invalid, invalid, invalid, "NODE_TYPE_UNKNOWN", invalid, invalid, "DURATION_INVALID", invalid, invalid],
      after: "goes on",
    });
    expect(await story(run)).toEqual(["started", "completed after", "completed names"]);
  });

  it("are bounded in number, and by the time in which the code does nothing", async () => {
    const endless = defineDurable({
      id: "endless",
      async run({ step }) {
        for (;;) await step.run("again", () => 1);
      },
    });
    const { run } = await started(endless, {}, { limits: { steps: 50 } });
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { code: "STEPS_EXCEEDED" } });
  });

  it("leave code that neither asks for a step nor ends its time, and no more", async () => {
    const silent = defineDurable({
      id: "silent",
      async run({ step }) {
        await step.run("one", () => 1);
        await new Promise(() => undefined);
      },
    });
    const { runtime, environment } = setUp({ workflows: [silent], stepTimeoutMs: 60 * second });
    const run = await runtime.start(silent);
    await environment.advance(59 * second);
    expect((await run.snapshot()).status).toBe("active");
    await environment.advance(second);
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { code: "STEP_TIMEOUT", nodeId: "silent" } });
  });
});
