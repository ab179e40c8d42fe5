import { describe, expect, it } from "vitest";
import { asking, deferred, engineOf, giving } from "./engine.fixture.ts";
import { settled } from "./virtual-environment.fixture.ts";

const never = (): Promise<never> => new Promise(() => undefined);
const policy = { maxAttempts: 2, interval: 1_000, backoff: "fixed" } as const;

describe("a timeout", () => {
  it("ends an attempt that takes too long, as a failure that may be retried", async () => {
    const { engine, clock } = engineOf({ a: { retryPolicy: policy, executor: never } }, [], { parts: { a: { timeout: "5s" } } });
    const running = engine.execute({});
    await clock.advance(4_999);
    expect(clock.armed).toBe(1);
    await clock.advance(1);
    const snapshot = await running;
    expect(snapshot).toMatchObject({
      status: "error",
      retryState: { attempts: 1, nextRetryAt: 1_006_000 },
      context: { a: [{ error: 'Node "a" did not end within 5000 ms', timestamp: 1_005_000 }] },
      totalExecutionTime: 5_000,
    });
    const again = engine.execute({ snapshot });
    await clock.advance(5_000);
    expect(await again).toMatchObject({ status: "failed", error: { code: "STEP_TIMEOUT" } });
  });

  it("may be an expression, and is then evaluated for every attempt", async () => {
    const { engine, clock } = engineOf({ a: never }, [], { parts: { a: { timeout: "{{ input.seconds }}s" } } });
    const running = engine.execute({ input: { seconds: 2 } });
    await clock.advance(2_000);
    expect((await running).error?.message).toContain("2000 ms");
  });

  it("that gives no duration fails the node before its executor begins", async () => {
    let calls = 0;
    const { engine } = engineOf(
      {
        a: () => {
          calls++;
          return never();
        },
      },
      [],
      { parts: { a: { timeout: "{{ input.seconds }}s" } } },
    );
    expect(await engine.execute({ input: { seconds: "?" } })).toMatchObject({ status: "failed", error: { code: "DURATION_INVALID" } });
    expect(calls).toBe(0);
  });

  it("is ten minutes where nobody says, or what the engine was told", async () => {
    const { engine, clock } = engineOf({ a: never });
    const running = engine.execute({});
    await clock.advance(600_000);
    expect((await running).error?.message).toContain("600000 ms");
    const { engine: other, clock: its } = engineOf({ a: never }, [], { stepTimeoutMs: 50 });
    const short = other.execute({});
    await its.advance(50);
    expect((await short).error?.message).toContain("50 ms");
  });

  it("takes one timer for many steps, and each expires at its own time", async () => {
    const { engine, clock } = engineOf(
      { f: giving(1), a: never, b: never, c: never },
      ["f>a", "f>b", "f>c", "a>end@error", "b>end@error", "c>end@error"].filter((edge) => !edge.includes("end")),
      {
        parts: { a: { timeout: 3_000 }, b: { timeout: 1_000 }, c: { timeout: 3_000 } },
      },
    );
    const made: string[] = [];
    const running = (async () => {
      for await (const { event } of engine.stream({})) if (event.type === "failed") made.push(`${event.nodeId} ${event.at}`);
    })();
    await settled();
    expect(clock.armed).toBe(1);
    await clock.advance(1_000);
    await running;
    expect(made).toEqual(["b 1001000"]);
  });

  it("expires steps in order of time, also on different timeouts and with steps that ended meanwhile", async () => {
    const quick = deferred<{ data: number }>();
    const { engine, clock } = engineOf(
      { f: giving(1), a: never, b: never, c: () => quick.promise, x: giving(1) },
      ["f>a", "f>b", "f>c", "a>x@error", "b>x@error"],
      { parts: { a: { timeout: 3_000 }, b: { timeout: 2_000 }, c: { timeout: 2_500 } } },
    );
    const running = engine.execute({});
    await settled();
    quick.resolve({ data: 1 });
    await clock.advance(2_000);
    await clock.advance(1_000);
    const snapshot = await running;
    expect(snapshot.status).toBe("completed");
    expect([snapshot.context.b?.[0]?.timestamp, snapshot.context.a?.[0]?.timestamp, snapshot.context.c?.[0]?.output]).toEqual([
      1_002_000, 1_003_000, 1,
    ]);
    await clock.advance(600_000);
    expect(clock.armed).toBe(0);
  });

  it("does not ask for a timer where the executor answers at once", async () => {
    const { engine, clock } = engineOf({ a: giving(1), b: giving(2) }, ["a>b"]);
    await engine.execute({});
    expect(clock.timersMade).toBe(0);
  });

  it("drops what comes after it", async () => {
    const late = deferred<{ data: string }>();
    const { engine, clock } = engineOf({ a: () => late.promise, x: giving("x") }, ["a>x@error"], { parts: { a: { timeout: 10 } } });
    const running = engine.execute({});
    await clock.advance(10);
    const snapshot = await running;
    late.resolve({ data: "late" });
    await settled();
    expect(snapshot).toMatchObject({ status: "completed", output: "x", steps: 2 });
  });
});

describe("a promise of a kind that never answers", () => {
  it("ends with the timeout, and hangs nothing", async () => {
    class Silent extends Promise<unknown> {
      override then(): never {
        return undefined as never;
      }
    }
    const later = (value: unknown) => (): unknown => Promise.resolve().then(() => value);
    for (const returned of [
      () => new Silent(() => undefined),
      later({ then: () => undefined }),
      later(Object.create({ then: () => undefined })),
    ]) {
      const { engine, clock } = engineOf({ a: returned });
      const running = engine.execute({});
      await clock.advance(600_000);
      expect((await running).error?.code).toBe("STEP_TIMEOUT");
    }
  });

  it.each<[string, () => unknown, RegExp]>([
    ["an object with a then", () => ({ then: () => undefined }), /not a Promise/],
    ["an inherited then", () => Object.create({ then: () => undefined }), /not a Promise/],
    ["data with a then", () => ({ data: { a: [{ then: () => undefined }] } }), /\/a\/0 is a promise/],
    ["data that is a promise", () => ({ data: Promise.resolve(1) }), /a promise: await it first/],
    ["a false promise", () => ({ [Symbol.toStringTag]: "Promise", data: 1 }), /./],
  ])("is refused where it is seen: %s", async (_, executor, said) => {
    const { engine } = engineOf({ a: executor });
    const snapshot = await engine.execute({});
    expect(snapshot.status).toBe("failed");
    expect(snapshot.error?.message).toMatch(said);
  });
});

describe("the signal of a step", () => {
  it("is aborted by the timeout, with the reason", async () => {
    let signal: AbortSignal | undefined;
    const { engine, clock } = engineOf(
      {
        a: (_, step) => {
          signal = step.signal;
          return never();
        },
      },
      [],
      { parts: { a: { timeout: 10 } } },
    );
    const running = engine.execute({});
    await settled();
    expect(signal?.aborted).toBe(false);
    await clock.advance(10);
    await running;
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ code: "STEP_TIMEOUT" });
  });

  it("is made only if it is read, and is aborted already when it is read later", async () => {
    const read = deferred<AbortSignal>();
    const go = deferred<void>();
    const { engine, clock } = engineOf(
      {
        a: async (_, step) => {
          await go.promise;
          read.resolve(step.signal);
          return never();
        },
      },
      [],
      { parts: { a: { timeout: 10 } } },
    );
    const running = engine.execute({});
    await clock.advance(10);
    await running;
    go.resolve();
    expect((await read.promise).aborted).toBe(true);
  });

  it("is aborted when a sibling fails the execution", async () => {
    let signal: AbortSignal | undefined;
    const bad = deferred<never>();
    const { engine } = engineOf(
      {
        f: giving(1),
        a: (_, step) => {
          signal = step.signal;
          return never();
        },
        b: () => bad.promise,
      },
      ["f>a", "f>b"],
    );
    const running = engine.execute({});
    await settled();
    bad.reject(new Error("gone"));
    expect(await running).toMatchObject({ status: "failed", currentNodeId: "b" });
    expect(signal?.aborted).toBe(true);
  });
});

describe("execute with a signal", () => {
  it("ends when it is aborted: the attempt under way does not count, and the execution can go on", async () => {
    const stop = new AbortController();
    const seen: unknown[] = [];
    const { engine } = engineOf(
      {
        a: giving(1),
        b: (_, step) => {
          seen.push(step.attempt);
          step.signal.addEventListener("abort", () => seen.push(step.signal.reason));
          return seen.length === 1 ? never() : { data: 2 };
        },
      },
      ["a>b"],
    );
    const running = engine.execute({ signal: stop.signal });
    await settled();
    stop.abort("deploy");
    const snapshot = await running;
    expect(snapshot).toMatchObject({ status: "active", currentNodeId: "b", version: 1, steps: 1 });
    expect(snapshot.context.b).toBeUndefined();
    expect(await engine.execute({ snapshot })).toMatchObject({
      status: "completed",
      output: 2,
      version: 2,
      context: { b: [{ attempt: 1 }] },
    });
    expect(seen).toEqual([1, "deploy", 1]);
  });

  it("that is aborted already only applies what it was told", async () => {
    let calls = 0;
    const { engine } = engineOf({
      a: (data, step) => {
        calls++;
        return asking()(data, step);
      },
    });
    const signal = AbortSignal.abort();
    expect(await engine.execute({ signal })).toMatchObject({ status: "active", version: 0 });
    const paused = await engine.execute({});
    expect(await engine.execute({ snapshot: paused, externalPayload: 1, signal })).toMatchObject({ status: "active", version: 2 });
    expect(await engine.execute({ snapshot: viaRetry(paused), signal })).toMatchObject({ status: "active" });
    expect(calls).toBe(1);
  });

  it("does not begin an executor after it has ended, also while the data is still being checked", async () => {
    const checked = deferred<void>();
    let calls = 0;
    const validate = async (value: unknown): Promise<{ value: never }> => {
      await checked.promise;
      return { value: value as never };
    };
    const input = { "~standard": { version: 1 as const, vendor: "test", validate } };
    const { engine } = engineOf({
      a: {
        input,
        executor: () => {
          calls++;
          return { data: 1 };
        },
      },
    });
    const stop = new AbortController();
    const running = engine.execute({ signal: stop.signal });
    await settled();
    stop.abort();
    expect(await running).toMatchObject({ status: "active", version: 0 });
    checked.resolve();
    await settled();
    expect(calls).toBe(0);
  });
});

const viaRetry = (snapshot: object): object => JSON.parse(JSON.stringify(snapshot)) as object;
