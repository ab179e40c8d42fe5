import { describe, expect, it } from "vitest";
import { defineDurable } from "../../../src/durable/define-durable.ts";
import type { DurableStep } from "../../../src/durable/durable-step.ts";
import { replayCheck } from "../../../src/testing/kit/replay-check.ts";
import { testRun } from "../../../src/testing/kit/test-run.ts";

type Step = DurableStep<never, { readonly go: unknown }, Record<never, never>>;

const anything = (value: unknown): unknown => value;

function code(run: (step: Step) => Promise<unknown>) {
  return defineDurable({ id: "code", waits: { go: anything }, run: ({ step }) => run(step as Step) });
}

function tick(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

async function inItsFirstTest(run: (step: Step) => Promise<unknown>): Promise<unknown> {
  return testRun(code(run)).then(
    (t) => t.close(),
    (failure: unknown) => failure,
  );
}

describe("the replay check finds in the first test", () => {
  it("chance in a name", async () => {
    expect(await inItsFirstTest((step) => step.run(`mail-${Math.floor(Math.random() * 1e9)}`, () => 1))).toMatchObject({
      reason: "CODE_NOT_REPEATABLE",
      message: expect.stringMatching(
        /step 1 was "mail-\d+" \(completed, version 1\), and the code now asks for "mail-\d+".*chance from step\.random/s,
      ),
    });
  });

  it("chance in a condition", async () => {
    const failure = await inItsFirstTest((step) => step.run(Math.random() < 0.001 ? "rarely" : "mostly", () => 1));
    expect(failure).toMatchObject({ reason: "CODE_NOT_REPEATABLE" });
  });

  it.each([
    ["a length of time", (from: number) => Date.now() - from < 3_600_000],
    ["a time that has passed", () => Date.now() > Date.UTC(2020, 0, 1)],
    ["a time to come", () => new Date().getFullYear() < 2050],
    ["what is odd", () => Date.now() % 2 === 0],
  ])("the clock in a condition: %s", async (_, isSo) => {
    const failure = await inItsFirstTest(async (step) => {
      const from = Date.now();
      await step.run("first", () => 1);
      return isSo(from) ? step.run("early", () => 1) : step.run("late", () => 1);
    });
    expect(failure).toMatchObject({ reason: "CODE_NOT_REPEATABLE", message: expect.stringContaining("times from step.now()") });
  });

  it("a step inside a step", async () => {
    const failure = await inItsFirstTest((step) =>
      step.run("outer", async () => {
        await step.run("inner", () => 1);
        return 2;
      }),
    );
    const message = expect.stringMatching(
      /"inner" \(completed, version 1\), and the code waits without having asked.*no step inside the function of/s,
    );
    expect(failure).toMatchObject({ reason: "CODE_NOT_REPEATABLE", message });
  });

  it("an await of something that is no step", async () => {
    const failure = await inItsFirstTest(async (step) => {
      await step.run("first", () => 1);
      await tick(1);
      await step.run("second", () => 2);
    });
    const message = expect.stringMatching(/the code waits for something that is no step, after step 1, "first".*await nothing but steps/s);
    expect(failure).toMatchObject({ reason: "CODE_NOT_REPEATABLE", message });
  });

  it("a race of a step with something that is no step", async () => {
    const failure = await inItsFirstTest(async (step) => {
      await Promise.race([step.run("slow", () => tick(100)), tick(1)]);
      await step.run("second", () => 2);
    });
    expect(failure).toMatchObject({ reason: "CODE_NOT_REPEATABLE" });
  });

  it("code that goes on after it was left, when the test is closed", async () => {
    let goOn: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const t = await testRun(
      code(async (step) => {
        await Promise.race([step.waitFor("go"), gate]);
        await step.run("second", () => 2);
      }),
    );
    goOn();
    await expect(t.close()).rejects.toMatchObject({ reason: "CODE_NOT_REPEATABLE", message: expect.stringContaining("after it was left") });
  });
});

describe("the replay check", () => {
  it("lets pass what is the same each time, and leaves the clock of steps alone", async () => {
    const before = Date.now();
    await using t = await testRun(
      code(async (step) => {
        const [at, share] = await Promise.all([step.run("clock", () => Date.now()), step.run("chance", () => Math.random())]);
        const name = step.random() < 0.5 ? "low" : "high";
        if (step.changed("later")) await step.run(name, () => new Date(step.now()).toISOString());
        await Promise.race([step.waitFor("go"), step.sleep("pause", "1h")]);
        return { at, share, id: step.uuid() };
      }),
    );
    await t.advance("1h");
    expect(t.status).toBe("completed");
    const { at } = t.output as { readonly at: number };
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it("can be left out", async () => {
    await using t = await testRun(
      code((step) => step.run(`mail-${Math.random().toString(36).slice(2)}`, () => 1)),
      { replay: false },
    );
    expect(t.status).toBe("completed");
  });

  it("says which executions a deployment would park", async () => {
    await using t = await testRun(
      code(async (step) => {
        await step.run("reserve", () => 1);
        await step.waitFor("go");
      }),
    );
    const { snapshot } = t;
    const changed = code(async (step) => {
      await step.run("mail", () => 1);
      await step.waitFor("go");
    });
    const { definition } = changed;
    expect(await replayCheck({ workflows: [changed] }).check(snapshot, definition)).toEqual({
      code: "CODE_CHANGED",
      message: 'step 1 was "reserve" (completed, version 1), and the code now asks for "mail"',
    });
    expect(await replayCheck({}).check(snapshot, definition)).toMatchObject({ code: "DEFINITION_INVALID" });
    const longer = code(async (step) => {
      await step.run("reserve", () => 1);
      await step.waitFor("go");
      await step.run("mail", () => 1);
    });
    expect(await replayCheck({ workflows: [longer] }).check(snapshot, definition)).toBeNull();
  });
});
