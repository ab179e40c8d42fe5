import { describe, expect, it } from "vitest";
import { FatalError } from "../../src/engine/node/fatal-error.ts";
import { RetryAfterError } from "../../src/engine/node/retry-after-error.ts";
import { asking, engineOf, failing, giving, viaJson } from "./engine.fixture.ts";

const policy = { maxAttempts: 3, interval: 1_000, backoff: "exponential" } as const;

describe("a node that keeps failing", () => {
  it("is attempted maxAttempts times in all, 3 and not 4, at interval * 2^(attempt - 1)", async () => {
    const attempts: number[] = [];
    const { engine, clock } = engineOf({
      a: {
        retryPolicy: policy,
        executor: (_, step) => {
          attempts.push(step.attempt);
          throw new Error("busy");
        },
      },
    });
    let snapshot = await engine.execute({});
    expect(snapshot).toMatchObject({
      status: "error",
      currentNodeId: "a",
      version: 1,
      retryState: { nodeId: "a", attempts: 1, nextRetryAt: clock.now() + 1_000 },
    });
    await clock.advance(1_000);
    snapshot = await engine.execute({ snapshot });
    expect(snapshot).toMatchObject({ status: "error", version: 2, retryState: { attempts: 2, nextRetryAt: clock.now() + 2_000 } });
    await clock.advance(2_000);
    snapshot = await engine.execute({ snapshot });
    expect(snapshot).toMatchObject({
      status: "failed",
      version: 3,
      currentNodeId: "a",
      error: { name: "Error", message: "busy", nodeId: "a" },
    });
    expect(attempts).toEqual([1, 2, 3]);
    expect(snapshot.context.a?.map(({ output, error, attempt }) => [output, error, attempt])).toEqual([
      [null, "busy", 1],
      [null, "busy", 2],
      [null, "busy", 3],
    ]);
    expect(snapshot).not.toHaveProperty("retryState");
  });

  it("is attempted once where there is no policy", async () => {
    const { engine } = engineOf({ a: failing() });
    expect(await engine.execute({})).toMatchObject({ status: "failed", version: 1, steps: 1 });
  });

  it("is made again at once by execute, also before its time: when to ask is the caller's business", async () => {
    const { engine } = engineOf({ a: { retryPolicy: policy, executor: failing() } });
    const first = await engine.execute({});
    const second = await engine.execute({ snapshot: first });
    expect(second).toMatchObject({ status: "error", version: 2, retryState: { attempts: 2 } });
    expect(await engine.execute({ snapshot: viaJson(second) })).toMatchObject({ status: "failed", version: 3 });
  });

  it("is the earliest of several retries, where none is due", async () => {
    const ran: string[] = [];
    const slow = (id: string, interval: number) => ({
      retryPolicy: { ...policy, interval },
      executor: () => {
        ran.push(id);
        throw new Error(id);
      },
    });
    const { engine, clock } = engineOf({ f: giving(1), a: slow("a", 5_000), b: slow("b", 2_000) }, ["f>a", "f>b"]);
    let snapshot = await engine.execute({});
    expect(snapshot).toMatchObject({ status: "error", retryState: { nodeId: "b" } });
    snapshot = await engine.execute({ snapshot });
    expect(ran).toEqual(["a", "b", "b"]);
    await clock.advance(5_000);
    await engine.execute({ snapshot });
    expect(ran).toEqual(["a", "b", "b", "a", "b"]);
  });

  it("goes on where it succeeds at last", async () => {
    const { engine } = engineOf({
      a: {
        retryPolicy: policy,
        executor: (_, step) => {
          if (step.attempt < 3) throw new Error("busy");
          return { data: step.attempt };
        },
      },
    });
    let snapshot = await engine.execute({});
    while (snapshot.status === "error") snapshot = await engine.execute({ snapshot });
    expect(snapshot).toMatchObject({ status: "completed", output: 3, version: 3, steps: 3 });
  });

  it("has the same idempotency key at every attempt, and another at the next visit", async () => {
    const keys: string[] = [];
    const { engine } = engineOf(
      {
        a: {
          retryPolicy: policy,
          executor: (_, step) => {
            keys.push(step.idempotencyKey);
            if (step.attempt < 2) throw new Error("busy");
            return { data: 1, nextHandle: keys.length < 4 ? "again" : null };
          },
        },
      },
      ["a>a@again"],
    );
    let snapshot = await engine.execute({ workflowId: "order 7" });
    while (snapshot.status === "error") snapshot = await engine.execute({ snapshot });
    expect(keys).toEqual(["order 7/0#1", "order 7/0#1", "order 7/0#3", "order 7/0#3"]);
  });
});

describe("the edge error", () => {
  it("takes a failure that is not retried, with the error as data", async () => {
    const { engine } = engineOf(
      { a: failing(Object.assign(new TypeError("gone"), { code: "E404" })), b: (data) => ({ data }) },
      ["a>b@error"],
      {
        parts: { b: { data: { got: "{{ nodes.a.last.data }}", said: "{{ nodes.a.last.error }}", json: "{{ $json.code }}" } } },
      },
    );
    const snapshot = await engine.execute({});
    const error = { name: "TypeError", message: "gone", code: "E404", nodeId: "a" };
    expect(snapshot).toMatchObject({ status: "completed", version: 2, output: { got: error, said: "gone", json: "E404" } });
    expect(snapshot).not.toHaveProperty("error");
  });

  it("waits for the last attempt", async () => {
    const { engine } = engineOf({ a: { retryPolicy: { ...policy, maxAttempts: 2 }, executor: failing() }, b: giving(1) }, ["a>b@error"]);
    const first = await engine.execute({});
    expect(first.status).toBe("error");
    expect(await engine.execute({ snapshot: first })).toMatchObject({ status: "completed", output: 1 });
  });
});

describe("what an executor throws", () => {
  it("is never retried if it is a FatalError, of whichever copy of the package", async () => {
    for (const thrown of [new FatalError("no use"), { "~fatal": true, name: "FatalError", message: "no use" }]) {
      const { engine } = engineOf({ a: { retryPolicy: policy, executor: failing(thrown) } });
      expect(await engine.execute({})).toMatchObject({ status: "failed", error: { name: "FatalError", message: "no use" } });
    }
  });

  it("may say when to come back, and the policy still says how often", async () => {
    const { engine, clock } = engineOf({
      a: {
        retryPolicy: policy,
        executor: (_, step) => {
          throw new RetryAfterError(step.attempt === 1 ? 7_500 : new Date(1_000_000 + 60_000));
        },
      },
    });
    let snapshot = await engine.execute({});
    expect(snapshot.retryState).toEqual({ nodeId: "a", attempts: 1, nextRetryAt: clock.now() + 7_500 });
    expect(snapshot.context.a?.[0]?.error).toBe("asked to come back later");
    snapshot = await engine.execute({ snapshot });
    expect(snapshot.retryState?.nextRetryAt).toBe(1_060_000);
    expect((await engine.execute({ snapshot })).status).toBe("failed");
  });

  it.each<[string, unknown, number]>([
    ["no number", new RetryAfterError(Number.NaN, "x"), 1_000],
    ["an invalid date", new RetryAfterError(new Date(Number.NaN), "x"), 1_000],
    ["a century", new RetryAfterError(1e13, "x", { cause: "y" }), 10 * 365 * 24 * 60 * 60 * 1000],
  ])("that asks for %s is kept within bounds", async (_, thrown, delayMs) => {
    const { engine, clock } = engineOf({ a: { retryPolicy: policy, executor: failing(thrown) } });
    expect((await engine.execute({})).retryState?.nextRetryAt).toBe(clock.now() + delayMs);
  });

  it.each([
    new RetryAfterError(new Date(0)),
    new RetryAfterError(-5),
  ])("that asks for a time that is past is made again in the same call", async (thrown) => {
    const { engine, clock } = engineOf({ a: { retryPolicy: policy, executor: failing(thrown) } });
    const snapshot = await engine.execute({});
    expect(snapshot).toMatchObject({ status: "failed", steps: 3 });
    expect(snapshot.context.a?.map(({ timestamp }) => timestamp)).toEqual([clock.now(), clock.now(), clock.now()]);
  });

  it("does not make a retry where there is no policy, whatever it asks for", async () => {
    const { engine } = engineOf({ a: failing(new RetryAfterError(5)) });
    expect((await engine.execute({})).status).toBe("failed");
  });

  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  it.each<[string, unknown, string]>([
    ["text", "out of paper", "out of paper"],
    ["null", null, "null"],
    ["a revoked proxy", revoked.proxy, "something that cannot be read was thrown"],
    ["a toJSON without a result", { toJSON: () => undefined }, "something that cannot be read was thrown"],
    ["a rejected promise", Promise.reject(new Error("caught")).catch(() => "x"), "{}"],
    ["half a character", "\ud800", "\uFFFD"],
  ])("may be anything, and is retried by policy: %s", async (_, thrown, message) => {
    const { engine } = engineOf({ a: { retryPolicy: policy, executor: failing(thrown) } });
    const snapshot = await engine.execute({});
    expect(snapshot.context.a?.[0]?.error).toBe(message);
    expect(snapshot.status).toBe("error");
    expect(viaJson(snapshot)).toEqual(snapshot);
  });
});

describe("retryIf", () => {
  it("decides, by error and attempt, whether there is another attempt", async () => {
    const run = async (code: string, retryIf: string): Promise<string> => {
      const { engine } = engineOf({
        a: { retryPolicy: { ...policy, retryIf }, executor: failing(Object.assign(new Error("x"), { code })) },
      });
      return (await engine.execute({})).status;
    };
    expect(await run("BUSY", "error.code == 'BUSY'")).toBe("error");
    expect(await run("GONE", "error.code == 'BUSY'")).toBe("failed");
    expect(await run("BUSY", "{{ attempt < 1 }}")).toBe("failed");
  });

  it("that cannot be evaluated fails the node, and keeps the error it was asked about", async () => {
    const { engine } = engineOf({ a: { retryPolicy: { ...policy, retryIf: "error.details.status == 500" }, executor: failing() } });
    expect(await engine.execute({})).toMatchObject({
      status: "failed",
      error: { code: "EXPRESSION_FAILED", message: expect.stringContaining("(after: busy)") },
    });
  });
});

describe("a policy of expressions", () => {
  it.each<[object, object, number]>([
    [{ maxAttempts: "3", interval: "2s" }, {}, 2_000],
    [{ maxAttempts: "{{ input.tries }}", interval: "{{ input.wait }}" }, { tries: 2, wait: "PT3S" }, 3_000],
    [{ maxAttempts: "{{ input.tries }}", interval: 10_000, maxInterval: "{{ input.most }}ms" }, { tries: "4", most: 1_500 }, 1_500],
    [{ maxAttempts: "{{ globals.tries }}", interval: 500 }, {}, 500],
  ])("is evaluated when it is needed: %j", async (more, input, delayMs) => {
    const { engine, clock } = engineOf({ a: failing() }, [], { parts: { a: { retryPolicy: { ...policy, ...more } } } });
    const snapshot = await engine.execute({ input, globals: { tries: 3 } });
    expect(snapshot.retryState?.nextRetryAt).toBe(clock.now() + delayMs);
  });

  it.each<[object]>([
    [{ maxAttempts: "{{ input.none }}" }],
    [{ maxAttempts: "{{ input.text }}" }],
    [{ interval: "{{ input.text }}" }],
    [{ maxInterval: "{{ input.none }}" }],
  ])("that gives no number fails the node with RETRY_POLICY_INVALID, never NaN: %j", async (more) => {
    const { engine } = engineOf({ a: failing() }, [], { parts: { a: { retryPolicy: { ...policy, ...more } } } });
    const snapshot = await engine.execute({ input: { text: "soon" } });
    expect(snapshot).toMatchObject({ status: "failed", error: { code: "RETRY_POLICY_INVALID", message: expect.stringContaining("busy") } });
  });

  it("of the node overrides that of its type", async () => {
    const { engine, clock } = engineOf({ a: { retryPolicy: policy, executor: failing() } }, [], {
      parts: { a: { retryPolicy: { ...policy, interval: 9 } } },
    });
    expect((await engine.execute({})).retryState?.nextRetryAt).toBe(clock.now() + 9);
  });

  it("with a mistake in the type is refused when the engine is made", () => {
    expect(() => engineOf({ a: { retryPolicy: { ...policy, interval: "soon" }, executor: failing() } })).toThrow(
      expect.objectContaining({
        code: "DEFINITION_INVALID",
        message: expect.stringContaining("/nodeDefinitions/a-type/retryPolicy/interval"),
      }),
    );
  });
});

describe("attempts", () => {
  it("begin anew when a suspended step is resumed", async () => {
    const { engine } = engineOf({
      a: {
        retryPolicy: { ...policy, maxAttempts: 2 },
        executor: (data, step) => {
          if (step.resumed && step.attempt === 1) throw new Error("busy");
          return asking()(data, step);
        },
      },
    });
    const paused = await engine.execute({});
    const failed = await engine.execute({ snapshot: paused, externalPayload: { yes: 1 } });
    expect(failed).toMatchObject({ status: "error", version: 3, retryState: { attempts: 1 } });
    expect(await engine.execute({ snapshot: viaJson(failed) })).toMatchObject({
      status: "completed",
      output: { by: "payload", payload: { yes: 1 } },
    });
  });
});
