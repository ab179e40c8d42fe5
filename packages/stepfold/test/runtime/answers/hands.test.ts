import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, hour, line, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => (StepfoldError.is(error) ? error.code : String(error)),
  );

/** A schema with a rule (`refine`) that JSON Schema cannot express, so that only the code of the node can check it. */
const even = z.object({
  amount: z
    .int()
    .min(1)
    .refine((amount) => amount % 2 === 0, "must be even"),
});
const picky = {
  ...nodeDefinitions,
  pay: defineNode({
    resume: even,
    executor: (_data, step) => (step.resumed ? { data: step.externalPayload } : step.suspend({ please: "pay" }, { timeout: "2h" })),
  }),
  blind: defineNode({
    resume: z.object({ at: z.date() }),
    executor: (_data, step) => (step.resumed ? { data: "seen" } : step.suspend("when?")),
  }),
};
const workflows = [
  line("till", "pay", "say"),
  line("talk", "say", "ask", "say"),
  line("dark", "blind"),
  line("try", "flaky"),
  line("nap", "sleep"),
];

/** Makes a worker with the code of the nodes, and a runtime without code (`hands`) that only sends commands. */
function shop() {
  const environment = virtualEnvironment();
  const { runtime: worker, store } = setUp({ nodeDefinitions: picky, workflows }, environment);
  const { runtime: hands } = setUp({ store, nodeDefinitions: undefined, workflows, drive: false } as never, environment);
  const settled = async (run: Run): Promise<void> => void (await (await worker.get(run.workflowId)).settled());
  const history = async (workflowId: string): Promise<string[]> => (await store.events(workflowId, -1, 100)).map(({ event }) => event.type);
  const drive = async (): Promise<void> => environment.advance(2 * second);
  return { environment, worker, hands, store, settled, history, drive };
}

describe("a runtime without node definitions", () => {
  it("starts, answers, signals, cancels, retries, lists, watches and explains what others drive", async () => {
    const { hands, worker, drive, environment } = shop();
    const run = await hands.start("talk", { workflowId: "t" });
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { event, snapshot } of run.watch()) seen.push(`${event.type} ${snapshot.version}`);
    })();
    await drive();
    expect((await run.explain()).sentence).toBe("ask1 waits for an answer.");
    expect(await run.waits()).toMatchObject([{ schema: { required: ["approved"] } }]);
    expect((await hands.list({ status: ["paused"] })).items.map(({ workflowId }) => workflowId)).toEqual(["t"]);
    expect(await codeOf(run.resume({ payload: { approved: "yes" } }))).toBe("RESUME_INVALID");
    expect(await run.resume({ payload: { approved: true }, idempotencyKey: "k" })).toEqual({ applied: true });
    await drive();
    expect(await run.result()).toEqual({ text: "say" });
    await watching;
    expect(seen).toEqual(["started 0", "completed 1", "suspended 2", "resumed 3", "completed 4", "completed 5"]);

    const napping = await hands.start("nap", { workflowId: "n", input: { until: environment.now() + hour } });
    await drive();
    await napping.signal("go", { early: true });
    await napping.cancel({ reason: "enough" });
    expect((await napping.snapshot()).status).toBe("cancelled");
    const trying = await hands.start("try", { workflowId: "f" });
    await drive();
    await trying.retry();
    expect((await trying.snapshot()).status).toBe("active");
    expect((await worker.get("f")).workflowId).toBe("f");
  });

  it("starts a definition that it is handed, which has no name anywhere", async () => {
    const { hands, drive } = shop();
    const run = await hands.start(line("unheard", "say"), { workflowId: "u" });
    await drive();
    expect(await run.result()).toEqual({ text: "say" });
  });

  it("checks a definition as far as it can without the code", async () => {
    const { hands } = shop();
    const broken = { ...line("broken", "say"), edges: [{ source: "say0", target: "nowhere" }] };
    expect(await codeOf(hands.start(broken))).toBe("DEFINITION_INVALID");
  });

  it("cannot drive: not from the beginning, not later, and not by hand", async () => {
    const { hands, store } = shop();
    expect(() => setUp({ store, nodeDefinitions: undefined, workflows } as never)).toThrow(/nodeDefinitions.*is needed to run/);
    expect(() => hands.work()).toThrow(/nodeDefinitions/);
    await hands.start("talk", { workflowId: "t" });
    expect(await codeOf(hands.advance("t"))).toBe("OPTION_INVALID");
  });

  it("tells a program that begins to drive later which node types it lacks", () => {
    const { runtime } = setUp({ nodeDefinitions, workflows, drive: false });
    expect(() => runtime.work()).toThrow(/no node definition is called "pay"/);
    expect(() => setUp({ nodeDefinitions, workflows })).toThrow(/no node definition is called "pay"/);
  });

  it("uses the code that is there, and does without the rest", async () => {
    const { store, hands, drive, environment } = shop();
    await hands.start("till", { workflowId: "t" });
    await drive();
    const { runtime: some } = setUp({ store, nodeDefinitions: { pay: picky.pay }, workflows, drive: false }, environment);
    const run = await some.get("t");
    expect(await codeOf(run.resume({ payload: { amount: 3 } }))).toBe("RESUME_INVALID");
    expect(await run.resume({ payload: { amount: 4 } })).toEqual({ applied: true });
  });

  it("is told where only the code can take an answer; another process can", async () => {
    const { hands, worker, drive } = shop();
    const run = await hands.start("dark", { workflowId: "d" });
    await drive();
    expect(await run.waits()).toMatchObject([{ needsCode: true, payload: "when?" }]);
    expect(await codeOf(run.resume({ payload: { at: "now" } }))).toBe("CODE_NEEDED");
    expect((await run.snapshot()).version).toBe(1);
    expect(await codeOf((await worker.get("d")).resume({ payload: { at: "now" } }))).toBe("RESUME_INVALID");
  });
});

describe("an answer that the code of the node refuses afterwards", () => {
  it("opens the wait again under its next id, and says who answered and what was wrong", async () => {
    const { hands, drive, history, environment } = shop();
    const run = await hands.start("till", { workflowId: "t" });
    await drive();
    const [asked] = await run.waits();
    expect(await run.resume({ waitId: asked!.id, payload: { amount: 3 }, by: "ada", idempotencyKey: "k" })).toEqual({ applied: true });
    await drive();
    expect(await history("t")).toEqual(["started", "suspended", "resumed", "answerRefused"]);
    const [again] = await run.waits();
    expect(again).toMatchObject({
      ...{ id: "0@4", payload: { please: "pay" }, timeoutAt: asked!.timeoutAt },
      refused: { who: "ada", issues: [{ pointer: "/amount", message: "must be even" }] },
    });
    expect((await run.explain()).sentence).toContain("waits for an answer (the answer of ada was refused: /amount must be even)");
    expect(await codeOf(run.resume({ waitId: asked!.id, payload: { amount: 4 } }))).toBe("WAIT_GONE");
    // the refused answer has freed its idempotency key, also for another payload
    expect(await run.resume({ payload: { amount: 4 }, by: "ada", idempotencyKey: "k" })).toEqual({ applied: true });
    await drive();
    expect(await run.resume({ payload: { amount: 4 }, by: "ada", idempotencyKey: "k" })).toEqual({ applied: false });
    expect(await run.result()).toEqual({ text: "say" });
    expect(environment.now()).toBeLessThan(asked!.timeoutAt!);
  });

  it("frees its idempotency key also if that is in a row by then", async () => {
    const { hands, drive } = shop();
    const run = await hands.start("till", { workflowId: "t" });
    await drive();
    expect(await run.resume({ payload: { amount: 3 }, idempotencyKey: "k" })).toEqual({ applied: true });
    for (const part of ["a", "b", "c"]) {
      const others = Array.from({ length: 500 }, (_, index) => run.setMetadata({ part }, { idempotencyKey: `${part}${index}` }));
      expect((await Promise.all(others)).every(({ applied }) => applied)).toBe(true);
    }
    expect((await run.snapshot()).answered!.some(({ key }) => key === "k")).toBe(false);
    // until the code has seen the answer, the same answer again is a repetition
    expect(await run.resume({ payload: { amount: 3 }, idempotencyKey: "k" })).toEqual({ applied: false });
    await drive();
    expect((await run.waits())[0]).toMatchObject({ firstId: "0@2", refused: { issues: [{ message: "must be even" }] } });
    expect(await run.resume({ payload: { amount: 4 }, idempotencyKey: "k" })).toEqual({ applied: true });
    expect(await run.resume({ payload: { amount: 4 }, idempotencyKey: "k" })).toEqual({ applied: false });
  });

  it("may be refused twice; a deadline that passes meanwhile counts", async () => {
    const { hands, drive, history, environment, worker, store } = shop();
    const run = await hands.start("till", { workflowId: "t" });
    await drive();
    for (let amount = 1; amount < 5; amount += 2) {
      await run.resume({ payload: { amount }, by: `person ${amount}` });
      await drive();
    }
    expect(await run.waits()).toMatchObject([{ id: "0@6", refused: { who: "person 3" } }]);
    await worker.close();
    await run.resume({ payload: { amount: 5 } });
    await environment.advance(3 * hour);
    const { runtime: later } = setUp({ store: store, nodeDefinitions: picky, workflows }, environment);
    await drive();
    expect(await codeOf((await later.get("t")).result())).toBe("EXECUTION_FAILED");
    expect((await history("t")).slice(-4)).toEqual(["answerRefused", "resumed", "answerRefused", "timedOut"]);
  });

  it("is told to who waits for the wait, and to who watches", async () => {
    const { hands, drive } = shop();
    const run = await hands.start("till", { workflowId: "t" });
    await drive();
    await run.resume({ payload: { amount: 3 } });
    const reopened = run.waitFor({ waitId: "0@4" }, { timeoutMs: 10_000 });
    const told = (async () => {
      for await (const { event, activePaths } of run.watch({ after: 2 }))
        if (event.type === "answerRefused") return { event, node: activePaths.get("pay0") };
      return null;
    })();
    await drive();
    expect(await reopened).toMatchObject({ refused: { issues: [{ message: "must be even" }] } });
    expect(await told).toMatchObject({
      event: { waitId: "0@2", answer: 2, nodeId: "pay0" },
      node: { status: "suspended", suspendPayload: { please: "pay" } },
    });
  });

  it("leaves one clear outcome where two answer at once", async () => {
    const { hands, drive, history } = shop();
    const run = await hands.start("till", { workflowId: "t" });
    await drive();
    const answers = [3, 4].map((amount) => codeOf(run.resume({ payload: { amount }, by: `by ${amount}` })));
    expect(await Promise.all(answers)).toEqual([null, "WAIT_GONE"]);
    await drive();
    expect(await history("t")).toEqual(["started", "suspended", "resumed", "answerRefused"]);
    expect(await run.waits()).toMatchObject([{ id: "0@4", refused: { who: "by 3" } }]);
  });

  it("goes on in a fork, whose code may refuse it too", async () => {
    const { hands, drive, worker, store, environment } = shop();
    const run = await hands.start("till", { workflowId: "t" });
    await drive();
    await worker.close();
    await run.resume({ payload: { amount: 3 } });
    const fork = await run.fork({ workflowId: "t2" });
    const { runtime } = setUp({ store, nodeDefinitions: picky, workflows }, environment);
    await drive();
    expect((await (await runtime.get("t2")).snapshot()).activePaths).toMatchObject([
      { waits: [{ id: "0@4", payload: { please: "pay" } }] },
    ]);
    expect(await fork.waits()).toMatchObject([{ schema: { required: ["amount"] } }]);
  });
});
