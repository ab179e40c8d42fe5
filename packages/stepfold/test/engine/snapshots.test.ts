import { describe, expect, it } from "vitest";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { asking, engineOf, failing, giving, viaJson } from "./engine.fixture.ts";

describe("a snapshot that an engine gave", () => {
  it("is frozen, and goes through JSON unchanged", async () => {
    const { engine } = engineOf({ a: giving({ list: [1, { b: null }] }), b: asking({ at: new Date(0) }) }, ["a>b"]);
    const snapshot = await engine.execute({ input: { x: undefined }, metadata: { m: 1 } });
    expect(viaJson(snapshot)).toStrictEqual({ ...snapshot });
    expect(Object.isFrozen(snapshot.context.a?.[0]?.output)).toBe(true);
    expect(() => Object.assign(snapshot, { version: 99 })).toThrow(TypeError);
  });

  it("is recognised and not checked again, and a copy of it is checked", async () => {
    const { engine } = engineOf({ a: asking() });
    const snapshot = await engine.execute({});
    expect(await engine.execute({ snapshot: { ...snapshot } })).toMatchObject({ status: "completed" });
    for (const forged of [{ ...snapshot, version: -5 }, Object.create(snapshot, { version: { value: "5", enumerable: true } })]) {
      await expect(engine.execute({ snapshot: forged as object })).rejects.toMatchObject({
        code: expect.stringMatching(/SNAPSHOT_INVALID|VALUE_NOT_JSON/),
      });
    }
  });

  it.each<unknown>([null, 5, "x", [], {}, () => 1, { workflowId: "w" }])("is no %j", async (snapshot) => {
    const { engine } = engineOf({ a: giving(1) });
    await expect(engine.execute({ snapshot: snapshot as object })).rejects.toMatchObject({
      code: expect.stringMatching(/SNAPSHOT_INVALID|VALUE_NOT_JSON/),
    });
  });

  it("of another version of the definition is refused, unless the current one is asked for", async () => {
    const old = engineOf({ a: asking(), b: giving(1) }, ["a>b"]).engine;
    const { engine } = engineOf({ a: asking(), b: giving("new"), c: giving(3) }, ["a>c", "c>b"]);
    const snapshot = await old.execute({});
    await expect(engine.execute({ snapshot, externalPayload: 1 })).rejects.toMatchObject({
      code: "DEFINITION_CHANGED",
      details: { expected: engine.workflow.hash, actual: old.workflow.hash },
    });
    await expect(engine.send(snapshot, { type: "cancel" })).rejects.toMatchObject({ code: "DEFINITION_CHANGED" });
    const end = await engine.execute({ snapshot, externalPayload: 1, definition: "current" });
    expect(end).toMatchObject({ status: "completed", output: "new", definition: { id: "flow", hash: engine.workflow.hash } });
    expect(await engine.execute({ snapshot: end })).toBe(end);
  });

  it("of a definition that lacks an open node is refused in any case", async () => {
    const snapshot = await engineOf({ a: asking(), b: giving(1) }, ["a>b"]).engine.execute({});
    const { engine } = engineOf({ b: giving(1) });
    await expect(engine.execute({ snapshot, definition: "current" })).rejects.toMatchObject({
      code: "DEFINITION_CHANGED",
      details: { missing: ["a"] },
    });
  });

  it("that has ended comes back, whatever its definition", async () => {
    const end = await engineOf({ a: giving(1), b: giving(2) }, ["a>b"]).engine.execute({});
    expect(await engineOf({ c: giving(1) }).engine.execute({ snapshot: end })).toEqual(end);
  });

  it("is not changed by what follows from it", async () => {
    const { engine } = engineOf(
      { f: giving([1]), a: asking(), b: { retryPolicy: { maxAttempts: 9, interval: 1, backoff: "fixed" }, executor: failing() } },
      ["f>a", "f>b"],
    );
    const snapshot = await engine.execute({});
    const before = JSON.stringify(snapshot);
    await engine.execute({ snapshot });
    await engine.execute({ snapshot, externalPayload: 1 });
    await engine.send(snapshot, { type: "cancel" });
    expect(JSON.stringify(snapshot)).toBe(before);
  });
});

describe("versions", () => {
  it("rise by one with every step, pause, resume, retry and failure, and not with a call that does nothing", async () => {
    const { engine } = engineOf(
      { a: giving(1), b: asking(), c: { retryPolicy: { maxAttempts: 2, interval: 5, backoff: "fixed" }, executor: failing() } },
      ["a>b", "b>c"],
    );
    const versions: number[] = [];
    let snapshot = await engine.execute({});
    versions.push(snapshot.version);
    snapshot = await engine.execute({ snapshot, externalPayload: 1 });
    versions.push(snapshot.version);
    snapshot = await engine.execute({ snapshot });
    versions.push(snapshot.version, (await engine.execute({ snapshot })).version);
    expect(versions).toEqual([2, 5, 6, 6]);
    expect(snapshot.status).toBe("failed");
  });
});

describe("a classic snapshot", () => {
  const classic = {
    workflowId: "w",
    status: "active",
    currentNodeId: "b",
    context: { a: [{ output: { n: 5 }, timestamp: 10 }] },
    version: 1,
    lastStartedAt: 9,
    totalExecutionTime: 3,
    metadata: { m: 1 },
  };
  const code = { a: giving(1), b: (data: unknown) => ({ data }), c: asking(), d: failing() };
  const make = () =>
    engineOf(code, ["a>b", "b>c"], {
      parts: {
        b: { data: { last: "{{ nodes.a.last.data.n }}", json: "{{ $json.n }}" } },
        d: { retryPolicy: { maxAttempts: 3, interval: 1_000, backoff: "exponential" } },
      },
    });

  it("that is active goes on at its node, and sees what it holds", async () => {
    const snapshot = await make().engine.execute({ snapshot: classic });
    expect(snapshot).toMatchObject({
      status: "paused",
      currentNodeId: "c",
      version: 3,
      metadata: { m: 1 },
      context: { b: [{ output: { last: 5, json: 5 } }] },
    });
    expect(snapshot.totalExecutionTime).toBe(3);
  });

  it("that is paused is resumed, with a payload or without", async () => {
    const paused = { ...classic, status: "paused", currentNodeId: "c" };
    expect(await make().engine.execute({ snapshot: paused, externalPayload: "p" })).toMatchObject({
      status: "completed",
      output: { by: "payload", payload: "p" },
      version: 3,
    });
    expect(await make().engine.execute({ snapshot: paused })).toMatchObject({ status: "completed" });
  });

  it("that failed for now is made again, with the attempts it had", async () => {
    const error = { ...classic, status: "error", currentNodeId: "d", retryState: { nodeId: "d", attempts: 1, nextRetryAt: 5 } };
    const { engine, clock } = make();
    expect(await engine.execute({ snapshot: error })).toMatchObject({
      status: "error",
      retryState: { attempts: 2, nextRetryAt: clock.now() + 2_000 },
      version: 2,
    });
    expect(await engine.execute({ snapshot: { ...error, retryState: { nodeId: "d", attempts: 2 } } })).toMatchObject({
      status: "failed",
      version: 2,
    });
  });

  it.each(["completed", "failed"])("that has %s stays as it is", async (status) => {
    const ended = { ...classic, status, currentNodeId: status === "failed" ? "b" : null };
    const snapshot = await make().engine.execute({ snapshot: ended });
    expect(snapshot).toMatchObject({ ...ended, context: { a: [{ output: { n: 5 }, timestamp: 10 }] } } as unknown as Snapshot);
  });
});
