import { describe, expect, it } from "vitest";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import type { StepContext } from "../../src/engine/node/step-context.ts";
import { asking, engineOf, giving, viaJson } from "./engine.fixture.ts";

describe("a step that suspends", () => {
  it("pauses the execution with what it asks for, and raises the version", async () => {
    const { engine } = engineOf({ a: asking({ ask: "ok?" }), b: giving(1) }, ["a>b"]);
    const snapshot = await engine.execute({});
    expect(snapshot).toMatchObject({ status: "paused", currentNodeId: "a", version: 1, context: {} });
    expect(snapshot.activePaths[0]?.waits).toEqual([{ id: "0@2", kind: "external", openedAt: 1_000_000, payload: { ask: "ok?" } }]);
  });

  it("is told by what it was resumed, with what, and what it had asked", async () => {
    const seen: unknown[] = [];
    const { engine } = engineOf({
      a: (_, step) => {
        seen.push(step.resumed, step.externalPayload);
        return step.resumed ? { data: "done" } : step.suspend({ ask: 1 });
      },
    });
    const end = await engine.execute({ snapshot: viaJson(await engine.execute({})), externalPayload: { yes: true } });
    expect(end).toMatchObject({ status: "completed", version: 3, steps: 2 });
    expect(seen).toEqual([undefined, undefined, { by: "payload", payload: { yes: true }, suspendPayload: { ask: 1 } }, { yes: true }]);
  });

  const executors: [string, (data: never, step: StepContext) => unknown][] = [
    ["throws the signal", (_, step) => step.suspend("p")],
    [
      "catches it and returns data",
      (_, step) => {
        try {
          step.suspend("p");
        } catch {
          /* swallowed */
        }
        return { data: 1 };
      },
    ],
    [
      "catches it and throws something else",
      (_, step) => {
        try {
          step.suspend("p");
        } catch {
          throw new Error("other");
        }
      },
    ],
    [
      "catches it and returns nothing",
      (_, step) => {
        try {
          step.suspend("p");
        } catch {
          /* swallowed */
        }
      },
    ],
    [
      "awaits it",
      async (_, step) => {
        await step.suspend("p");
      },
    ],
    [
      "awaits and catches it",
      async (_, step) => {
        try {
          await step.suspend("p");
        } catch {
          /* swallowed */
        }
        return { data: 1 };
      },
    ],
    [
      "suspends later",
      async (_, step) => {
        await Promise.resolve();
        step.suspend("p");
      },
    ],
    [
      "suspends twice",
      (_, step) => {
        try {
          step.suspend("p");
        } catch {
          step.suspend("q");
        }
      },
    ],
    ["takes suspend out of the step", (_, { suspend }) => suspend("p")],
    ["returns __pause", () => ({ __pause: true, data: "p" })],
    ["returns __pause later", async () => ({ __pause: true, data: "p" })],
  ];
  it.each(executors)("is suspended whatever it does then: %s", async (_, executor) => {
    const { engine } = engineOf({ a: executor });
    const snapshot = await engine.execute({});
    expect(snapshot).toMatchObject({ status: "paused", version: 1, steps: 1 });
    expect(snapshot.activePaths[0]?.waits).toEqual([{ id: "0@2", kind: "external", openedAt: 1_000_000, payload: "p" }]);
  });

  it("lets the other paths go on", async () => {
    const { engine } = engineOf({ f: giving(1), a: asking(), b: giving(2), c: giving(3) }, ["f>a", "f>b", "b>c"]);
    const snapshot = await engine.execute({});
    expect(snapshot).toMatchObject({ status: "paused", version: 4, currentNodeId: "a" });
    expect(snapshot.context.c?.[0]?.output).toBe(3);
  });

  it.each<[string, unknown, string]>([
    ["a payload that is not JSON", (_: unknown, step: StepContext) => step.suspend({ f: () => 1 }), "/f is a function"],
    ["a schema that is none", (_: unknown, step: StepContext) => step.suspend(1, { schema: "text" as never }), "schema"],
    ["a time that is none", (_: unknown, step: StepContext) => step.suspend(1, { resumeAt: Number.NaN }), "resumeAt"],
    ["a time before all times", () => ({ __pause: true, resumeAt: -1 }), "resumeAt"],
    ["a time as text", () => ({ __pause: true, resumeAt: "tomorrow" }), "resumeAt"],
    ["a timeout that is none", (_: unknown, step: StepContext) => step.suspend(1, { timeout: "soon" }), "not a duration"],
    ["a time in 11 years", (_: unknown, step: StepContext) => step.suspend(1, { resumeAt: 1_000_000 + 11 * 365 * 86_400_000 }), "timerMs"],
    ["options that are none", (_: unknown, step: StepContext) => step.suspend(1, null as never), ""],
  ])("fails with %s", async (_, executor, said) => {
    const { engine } = engineOf({ a: executor as never });
    const snapshot = await engine.execute({});
    expect(snapshot.status).toBe("failed");
    expect(snapshot.error?.message).toContain(said);
  });
});

describe("execute with a paused snapshot", () => {
  it("and nothing else resumes the one wait there is, without a payload: the classic meaning", async () => {
    const { engine } = engineOf({ a: asking(), b: giving("end") }, ["a>b"]);
    const end = await engine.execute({ snapshot: await engine.execute({}) });
    expect(end).toMatchObject({ status: "completed", version: 4, context: { a: [{ output: { by: "payload", payload: null } }] } });
  });

  it("and several waits changes nothing: the very same snapshot comes back", async () => {
    const { engine } = engineOf({ f: giving(1), a: asking(), b: asking() }, ["f>a", "f>b"]);
    const paused = await engine.execute({});
    expect(await engine.execute({ snapshot: paused })).toBe(paused);
    await expect(engine.execute({ snapshot: paused, externalPayload: 1 })).rejects.toMatchObject({
      code: "RESUME_AMBIGUOUS",
      details: {
        waits: [
          { id: "0@3", nodeId: "a" },
          { id: "0.1@2", nodeId: "b" },
        ],
      },
    });
    const one = await engine.execute({ snapshot: paused, externalPayload: 1, target: "b" });
    expect(one).toMatchObject({ status: "paused", context: { b: [{ output: { payload: 1 } }] } });
    expect(await engine.execute({ snapshot: viaJson(one), target: { waitId: "0@3" } })).toMatchObject({ status: "completed" });
  });

  it("and a payload that is undefined is a resume all the same", async () => {
    const { engine } = engineOf({ f: giving(1), a: asking(), b: asking() }, ["f>a", "f>b"]);
    const paused = await engine.execute({});
    await expect(engine.execute({ snapshot: paused, externalPayload: undefined })).rejects.toMatchObject({ code: "RESUME_AMBIGUOUS" });
    const { engine: single } = engineOf({ a: asking() });
    expect(await single.execute({ snapshot: await single.execute({}), externalPayload: undefined })).toMatchObject({ status: "completed" });
  });

  it("and a target that is gone is refused, and the snapshot stays as it is", async () => {
    const { engine } = engineOf({ a: asking(), b: asking() }, ["a>b"]);
    const first = await engine.execute({});
    const second = await engine.execute({ snapshot: first, externalPayload: 1 });
    await expect(engine.execute({ snapshot: second, externalPayload: 1, target: "0@2" })).rejects.toMatchObject({ code: "WAIT_GONE" });
    await expect(engine.execute({ snapshot: second, externalPayload: 1, target: { node: "a" } })).rejects.toMatchObject({
      code: "WAIT_GONE",
    });
    await expect(engine.execute({ snapshot: second, externalPayload: 1, target: "nowhere" })).rejects.toMatchObject({
      code: "NODE_UNKNOWN",
    });
    expect(second).toMatchObject({ status: "paused", version: 4, currentNodeId: "b" });
  });

  it("is legal in any status that is not terminal", async () => {
    const { engine } = engineOf(
      {
        f: giving(1),
        a: asking(),
        b: {
          retryPolicy: { maxAttempts: 2, interval: 5_000, backoff: "fixed" },
          executor: () => {
            throw new Error("busy");
          },
        },
      },
      ["f>a", "f>b"],
    );
    const error = await engine.execute({});
    expect(error).toMatchObject({ status: "error" });
    const resumed = await engine.execute({ snapshot: error, externalPayload: 1 });
    expect(resumed).toMatchObject({ status: "error", context: { a: [{ output: { payload: 1 } }], b: [{ attempt: 1 }] } });
  });

  it("that has ended is refused as a resume, and comes back as it is otherwise", async () => {
    const { engine } = engineOf({ a: giving(1) });
    const end = await engine.execute({});
    expect(await engine.execute({ snapshot: end })).toBe(end);
    expect(await engine.execute({ snapshot: viaJson(end) })).toEqual(end);
    await expect(engine.execute({ snapshot: end, externalPayload: 1 })).rejects.toMatchObject({ code: "EXECUTION_ENDED", status: 409 });
    await expect(engine.execute({ snapshot: end, target: "a" })).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
  });

  it("refuses a payload that is not JSON, or too large for the execution", async () => {
    const { engine } = engineOf({ a: asking() }, [], { limits: { executionBytes: 1_000 } });
    const snapshot = await engine.execute({});
    await expect(engine.execute({ snapshot, externalPayload: { a: [1n] } })).rejects.toMatchObject({
      code: "VALUE_NOT_JSON",
      details: { pointer: "/a/0" },
    });
    await expect(engine.execute({ snapshot, externalPayload: "x".repeat(1_000) })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      details: { limit: "executionBytes" },
    });
    expect(await engine.execute({ snapshot, externalPayload: new Date(0) })).toMatchObject({
      output: { payload: "1970-01-01T00:00:00.000Z" },
    });
  });

  it("checks the payload against the schema that the wait came with, before that of the type", async () => {
    const { engine } = engineOf({ a: { resume: false, executor: asking(1, { schema: { type: "object", required: ["yes"] } }) } });
    const snapshot = viaJson(await engine.execute({}));
    await expect(engine.execute({ snapshot, externalPayload: {} })).rejects.toMatchObject({
      code: "RESUME_INVALID",
      details: { nodeId: "a" },
    });
    await expect(engine.execute({ snapshot, externalPayload: undefined })).rejects.toMatchObject({ code: "RESUME_INVALID" });
    expect(await engine.execute({ snapshot })).toEqual(snapshot);
  });
});

describe("a resume schema that itself throws", () => {
  it("is the caller's to see, and the snapshot stays as it is", async () => {
    const validate = (): never => {
      throw new RangeError("out of reach");
    };
    const { engine } = engineOf({ a: { resume: { "~standard": { version: 1, vendor: "t", validate } }, executor: asking() } });
    const snapshot = await engine.execute({});
    await expect(engine.execute({ snapshot })).rejects.toThrow("out of reach");
    expect(snapshot).toMatchObject({ status: "paused", version: 1 });
  });

  it("opens the wait again where it changes its mind between resume and run", async () => {
    let calls = 0;
    const validate = (value: unknown): object => (++calls < 2 ? { value } : { issues: [{ message: "no more" }] });
    const { engine } = engineOf({
      a: { resume: { "~standard": { version: 1, vendor: "t", validate: validate as never } }, executor: asking() },
    });
    const end = await engine.execute({ snapshot: await engine.execute({}), externalPayload: [1] });
    expect(end).toMatchObject({
      status: "paused",
      activePaths: [{ waits: [{ id: "0@4", refused: { issues: [{ message: "no more" }] } }] }],
    });
  });
});

describe("a timer", () => {
  const timed = async (options: object, edges: string[] = []): Promise<{ at: (ms: number) => Promise<Snapshot>; paused: Snapshot }> => {
    const { engine, clock } = engineOf({ a: asking("p", options), late: giving("late"), bad: giving("bad") }, edges);
    const paused = await engine.execute({ initialNodeId: "a" });
    return {
      paused,
      at: async (ms) => {
        clock.set(1_000_000 + ms);
        return engine.execute({ snapshot: viaJson(paused) });
      },
    };
  };

  it("runs the step again when its time has come, and not before", async () => {
    const { at, paused } = await timed({ resumeAt: 1_005_000 });
    expect(paused.activePaths[0]?.waits?.[0]).toEqual({
      ...{ id: "0@2", kind: "timer", payload: "p" },
      ...{ openedAt: 1_000_000, resumeAt: 1_005_000 },
    });
    expect(await at(4_999)).toEqual(paused);
    expect(await at(5_000)).toMatchObject({ status: "completed", output: { by: "timer", payload: null } });
  });

  it("alone is not ended by a payload", async () => {
    const { engine } = engineOf({ a: () => ({ __pause: true, resumeAt: 1_005_000 }) });
    const snapshot = await engine.execute({});
    await expect(engine.execute({ snapshot, externalPayload: 1 })).rejects.toMatchObject({ code: "WAIT_GONE" });
  });

  it("that is past already runs the step again in the same call", async () => {
    const { engine } = engineOf({ a: asking("p", { resumeAt: 5.5 }) });
    expect(await engine.execute({})).toMatchObject({ status: "completed", version: 3 });
  });

  it("of a timeout leaves by the handle timeout, else error, else the node fails and is not retried", async () => {
    expect(await (await timed({ timeout: "5s" }, ["a>late@timeout", "a>bad@error"])).at(5_000)).toMatchObject({
      status: "completed",
      output: "late",
      context: { a: [{ output: null, error: expect.stringContaining("not answered in time") }] },
    });
    expect(await (await timed({ timeout: 5_000 }, ["a>bad@error"])).at(6_000)).toMatchObject({
      status: "completed",
      output: "bad",
      context: { a: [{ output: { code: "WAIT_TIMEOUT" } }] },
    });
    expect(await (await timed({ timeout: "PT5S" })).at(5_000)).toMatchObject({
      status: "failed",
      error: { code: "WAIT_TIMEOUT", nodeId: "a" },
      version: 2,
    });
  });

  it("and a timeout: the earlier wins, on a tie the timeout", async () => {
    expect(await (await timed({ resumeAt: 1_005_000, timeout: 6_000 }, ["a>late@timeout"])).at(9_000)).toMatchObject({
      output: { by: "timer" },
    });
    expect(await (await timed({ resumeAt: 1_006_000, timeout: 5_000 }, ["a>late@timeout"])).at(9_000)).toMatchObject({ output: "late" });
    expect(await (await timed({ resumeAt: 1_005_000, timeout: 5_000 }, ["a>late@timeout"])).at(9_000)).toMatchObject({ output: "late" });
  });

  it("with a timeout can still be answered before it, and not after", async () => {
    const { engine, clock } = engineOf({ a: asking("p", { timeout: 5_000 }) });
    const paused = await engine.execute({});
    clock.set(1_004_999);
    expect(await engine.execute({ snapshot: paused, externalPayload: 1 })).toMatchObject({ status: "completed" });
    clock.set(1_005_000);
    await expect(engine.execute({ snapshot: paused, externalPayload: 1 })).rejects.toMatchObject({ code: "WAIT_EXPIRED", status: 410 });
  });

  it("of one path falls due while another goes on", async () => {
    const { engine, clock } = engineOf({ f: giving(1), a: asking("p", { resumeAt: 1_005_000 }), b: asking("q") }, ["f>a", "f>b"]);
    const paused = await engine.execute({});
    clock.set(1_005_000);
    const end = await engine.execute({ snapshot: paused, externalPayload: 7, target: "b" });
    expect(end).toMatchObject({ status: "completed", context: { a: [{ output: { by: "timer" } }], b: [{ output: { payload: 7 } }] } });
  });
});

describe("a payload at the start", () => {
  it("goes to the first node, as if that were resumed with it", async () => {
    const { engine } = engineOf({ a: asking(), b: asking() });
    expect(await engine.execute({ initialNodeId: "b", externalPayload: { yes: 1 } })).toMatchObject({
      status: "completed",
      output: { by: "payload", payload: { yes: 1 } },
    });
    expect(await engine.execute({ initialNodeId: "b", externalPayload: undefined })).toMatchObject({ status: "paused" });
  });
});
