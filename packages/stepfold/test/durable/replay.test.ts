import { afterEach, describe, expect, it } from "vitest";
import { defineDurable } from "../../src/durable/define-durable.ts";
import type { DurableStep } from "../../src/durable/durable-step.ts";
import { closeAll, hour, second, setUp } from "../runtime/runtime.fixture.ts";
import { pass, quiet, started, story } from "./durable.fixture.ts";

afterEach(closeAll);

type Step = DurableStep<unknown, { readonly go: unknown }, Record<never, never>>;

/** A durable workflow whose code can be replaced, as by a deployment. */
function replaceable(first: (step: Step) => Promise<unknown>) {
  let code = first;
  const workflow = defineDurable({ id: "code", waits: { go: true }, run: ({ step }) => code(step as Step) });
  return {
    workflow,
    deploy: (next: (step: Step) => Promise<unknown>) => {
      code = next;
    },
  };
}

describe("code that does not fit what it has done before", () => {
  const before = async (step: Step): Promise<unknown> => {
    await step.run("reserve", () => 1);
    await step.waitFor("go");
    return step.run("mail", () => "sent");
  };

  it.each<[string, (step: Step) => Promise<unknown>, RegExp]>([
    [
      "asks for another step",
      async (step) => {
        await step.run("charge", () => 2);
        await step.waitFor("go");
      },
      /step 1 was "reserve" \(completed, version 1\), and the code now asks for "charge"/,
    ],
    [
      "ends without all steps",
      (step) => step.run("reserve", () => 2),
      /has not asked for all that it once asked for: step 2 was "go" \(completed, version 4\)/,
    ],
  ])("parks the execution if it %s, and goes on with the right code", async (_what, after, message) => {
    const problems: string[] = [];
    const { workflow, deploy } = replaceable(before);
    const { run, environment } = await started(
      workflow,
      {},
      { onProblem: (_id, error) => problems.push((error as { code: string }).code) },
    );
    deploy(after);
    await run.resume({ step: "go", payload: null });
    await quiet(environment, run);
    await pass(environment, run, 100);
    const { parked, status } = await run.snapshot();
    expect(parked).toMatchObject({ code: "CODE_CHANGED", message: expect.stringMatching(message) });
    expect([status, problems, parked!.until! - parked!.at]).toEqual(["parked", ["EXECUTION_PARKED"], 1_000]);
    deploy(before);
    await run.retry();
    expect(await run.result()).toBe("sent");
  });

  it("parks it if a step is asked for inside of another one", async () => {
    const workflow = defineDurable({
      id: "nested",
      async run({ step }) {
        await step.run("outer", async () => {
          await step.run("inner", () => 1);
        });
        await step.sleep("pause", "1h");
        return step.run("end", () => 2);
      },
    });
    const { run, environment } = await started(workflow);
    await pass(environment, run, hour + 1);
    const message = expect.stringContaining('step 2 was "inner" (completed, version 1), and the code waits without having asked for it');
    expect((await run.snapshot()).parked).toMatchObject({ code: "CODE_CHANGED", message });
  });

  it("is tried again by itself, later each time, so that a fleet of two versions heals", async () => {
    const { workflow, deploy } = replaceable(before);
    const { run, environment } = await started(workflow);
    deploy((step) => step.run("other", () => 1));
    await run.resume({ step: "go", payload: null });
    await quiet(environment, run);
    const rests: number[] = [];
    for (let i = 0; i < 4; i++) {
      const { until, at } = (await run.snapshot()).parked!;
      rests.push(until! - at);
      await pass(environment, run, until! - at + 10);
    }
    expect(rests).toEqual([1_000, 2_000, 4_000, 8_000]);
    deploy(before);
    await pass(environment, run, 30 * second);
    expect(await run.result()).toBe("sent");
  });

  it("performs nothing of the changed code, and commits nothing but the parking", async () => {
    const performed: string[] = [];
    const { workflow, deploy } = replaceable(before);
    const { run, environment } = await started(workflow);
    deploy(async (step) => {
      const both = [step.run("reserve", () => performed.push("reserve")), step.run("other", () => performed.push("other"))];
      await Promise.all(both);
    });
    await run.resume({ step: "go", payload: null });
    await quiet(environment, run);
    expect((await story(run)).slice(-2)).toEqual(["resumed", "parked"]);
    expect(performed).toEqual([]);
  });
});

describe("code that was changed on purpose", () => {
  it("runs what was inserted in executions that have not come so far, and not in the others", async () => {
    const { workflow, deploy } = replaceable(async (step) => {
      await step.waitFor("go");
      const first = await step.run("first", () => 1);
      await step.sleep("pause", "1h");
      return { first };
    });
    const { runtime, environment } = setUp({ workflows: [workflow] });
    const behind = await runtime.start(workflow, { workflowId: "behind" });
    const ahead = await runtime.start(workflow, { workflowId: "ahead" });
    await quiet(environment, ahead);
    await ahead.resume({ step: "go", payload: null });
    await quiet(environment, ahead);
    deploy(async (step) => {
      await step.waitFor("go");
      const mailed = step.changed("with-mail") ? await step.run("mail", () => "mailed") : "not mailed";
      const first = await step.run("first", () => 1);
      await step.sleep("pause", "1h");
      return { first, mailed };
    });
    await behind.resume({ step: "go", payload: null });
    await quiet(environment, behind);
    await pass(environment, behind, 3 * hour);
    expect(await ahead.result()).toEqual({ first: 1, mailed: "not mailed" });
    expect(await behind.result()).toEqual({ first: 1, mailed: "mailed" });
  });
});

describe("a replay", () => {
  it("asks in the same order, however long the code takes from one step to the next", async () => {
    const orders: string[] = [];
    let slow = 0;
    const pause = async (turns: number): Promise<void> => {
      for (let i = 0; i < turns; i++) await null;
    };
    const workflow = defineDurable({
      id: "micro",
      async run({ step }) {
        const asked: string[] = [];
        const ready = step.run("ready", () => 1);
        const go = async (name: string, turns: number): Promise<void> => {
          await ready;
          await pause(turns);
          asked.push(name);
          await step.run("next", () => name);
        };
        await Promise.all([go("one", slow++ % 2 === 0 ? 60 : 60), go("two", 0)]);
        await step.sleep("pause", "1h");
        orders.push(asked.join());
      },
    });
    const { run, environment } = await started(workflow);
    await pass(environment, run, hour + 1);
    await run.result();
    expect(orders).toEqual(["two,one"]);
    expect((await run.snapshot()).parked).toBeUndefined();
  });

  it("gives the same time, chance and ids, and those of the origin in a fork", async () => {
    const seen: unknown[][] = [];
    const workflow = defineDurable({
      id: "same",
      waits: { go: true },
      async run({ step }) {
        const start = [step.now(), step.random(), step.uuid()];
        await step.run("one", () => 1);
        await step.sleep("pause", "1h");
        seen.push([...start, step.now(), step.uuid()]);
        await step.waitFor("go");
      },
    });
    const { run, environment } = await started(workflow);
    await pass(environment, run, hour + 1);
    const fork = await run.fork({ workflowId: "fork" });
    for (const one of [run, fork]) await one.resume({ step: "go", payload: null });
    await quiet(environment, fork);
    expect((await fork.snapshot()).status).toBe("completed");
    expect(seen.length).toBeGreaterThan(2);
    for (const one of seen) expect(one).toEqual(seen[0]);
    expect(seen[0]![2]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("goes on after 10,000 steps without performing one of them again", async () => {
    let performed = 0;
    const workflow = defineDurable({
      id: "many",
      waits: { go: true },
      async run({ step }) {
        for (let i = 0; i < 2_000; i++) await Promise.all([1, 2, 3, 4, 5].map(() => step.run("work", () => void performed++)));
        await step.waitFor("go");
        return "done";
      },
    });
    const { runtime } = setUp({ workflows: [workflow], limits: { steps: 20_000 } });
    const run = await runtime.start(workflow);
    await run.settled();
    expect(performed).toBe(10_000);
    await run.resume({ step: "go", payload: null });
    expect([await run.result(), performed]).toEqual(["done", 10_000]);
  });

  it("takes a signal into the run that is under way, and does not begin again", async () => {
    let runs = 0;
    const gate = Promise.withResolvers<void>();
    const workflow = defineDurable({
      id: "running",
      signals: { hint: true },
      async run({ step }) {
        runs++;
        const hint = step.signal("hint");
        await step.run("long", () => gate.promise);
        return hint;
      },
    });
    const { run, environment } = await started(workflow);
    await run.signal("hint", 7);
    await quiet(environment, run);
    gate.resolve();
    expect([await run.result(), runs]).toEqual([7, 1]);
  });
});
