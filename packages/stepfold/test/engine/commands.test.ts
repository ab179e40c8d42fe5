import { describe, expect, it } from "vitest";
import { asking, engineOf, failing, giving, viaJson } from "./engine.fixture.ts";

const policy = { maxAttempts: 3, interval: 1_000, backoff: "fixed" } as const;

describe("send", () => {
  it("SUITES 3: refuses an idempotency key, which only a runtime can keep", async () => {
    const { engine } = engineOf({ a: asking({ ask: 1 }) });
    const paused = await engine.execute({});
    for (const command of [{ type: "signal", name: "paid" } as const, { type: "resume" } as const]) {
      const sent = engine.send(paused, { ...command, idempotencyKey: "k" });
      await expect(sent).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option: "idempotencyKey" } });
    }
  });

  it("applies a resume and performs nothing", async () => {
    const { engine } = engineOf({ a: asking({ ask: 1 }) });
    const paused = await engine.execute({});
    const resumed = await engine.send(viaJson(paused), { type: "resume", payload: { yes: 1 }, by: "ada" });
    expect(resumed).toMatchObject({
      status: "active",
      version: 2,
      steps: 1,
      activePaths: [{ status: "ready", resumed: { by: "payload", payload: { yes: 1 }, suspendPayload: { ask: 1 } } }],
    });
    expect(await engine.execute({ snapshot: resumed })).toMatchObject({ status: "completed", output: { payload: { yes: 1 } } });
    expect(await engine.send(paused, { type: "resume", target: "a" })).toMatchObject({
      activePaths: [{ resumed: { by: "payload", suspendPayload: { ask: 1 } } }],
    });
  });

  it("cancels whatever is open, once", async () => {
    const { engine } = engineOf({ f: giving(1), a: asking(), b: asking() }, ["f>a", "f>b"]);
    const cancelled = await engine.send(await engine.execute({}), { type: "cancel", reason: "no longer needed" });
    expect(cancelled).toMatchObject({ status: "cancelled", activePaths: [], currentNodeId: "a", version: 4 });
    await expect(engine.send(cancelled, { type: "cancel" })).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
    expect(await engine.execute({ snapshot: cancelled })).toBe(cancelled);
    const { engine: other } = engineOf({ a: asking() });
    expect(await other.send(await other.execute({}), { type: "cancel" })).toMatchObject({ status: "cancelled", version: 2 });
  });

  it("makes a pending retry due at once, the earliest or that of a node", async () => {
    const { engine } = engineOf(
      {
        f: giving(1),
        a: { retryPolicy: { ...policy, interval: 9_000 }, executor: failing() },
        b: { retryPolicy: policy, executor: failing() },
      },
      ["f>a", "f>b"],
    );
    const error = await engine.execute({});
    expect(await engine.send(error, { type: "retry" })).toMatchObject({
      status: "active",
      version: 4,
      activePaths: [
        { nodeId: "a", status: "retrying" },
        { nodeId: "b", status: "ready", attempts: 1 },
      ],
    });
    expect(await engine.send(error, { type: "retry", node: "a" })).toMatchObject({
      activePaths: [
        { nodeId: "a", status: "ready" },
        { nodeId: "b", status: "retrying" },
      ],
    });
    await expect(engine.send(error, { type: "retry", node: "f" })).rejects.toMatchObject({ code: "RETRY_NOT_PENDING" });
  });

  it("finds no retry in an execution that only waits", async () => {
    const { engine } = engineOf({ a: asking() });
    await expect(engine.send(await engine.execute({}), { type: "retry" })).rejects.toMatchObject({ code: "RETRY_NOT_PENDING" });
  });

  it.each<[string, unknown, string]>([
    ["no command", null, "OPTION_INVALID"],
    ["text", "cancel", "OPTION_INVALID"],
    ["an unknown kind", { type: "destroy" }, "OPTION_INVALID"],
    ["an inherited kind", { type: "toString" }, "OPTION_INVALID"],
    ["a reason that is no text", { type: "cancel", reason: {} }, "OPTION_INVALID"],
    ["an empty reason", { type: "cancel", reason: "" }, "OPTION_INVALID"],
    ["a long reason", { type: "cancel", reason: "x".repeat(1_001) }, "OPTION_INVALID"],
    ["half a character", { type: "resume", by: "\ud800" }, "OPTION_INVALID"],
    ["a key that is no text", { type: "resume", idempotencyKey: 5 }, "OPTION_INVALID"],
    ["a target of another kind", { type: "resume", target: { node: 5 } }, "OPTION_INVALID"],
    ["a payload that is not JSON", { type: "resume", payload: { a: Number.NaN } }, "VALUE_NOT_JSON"],
    ["a node that is no text", { type: "retry", node: {} }, "OPTION_INVALID"],
  ])("refuses %s", async (_, command, code) => {
    const { engine } = engineOf({ a: asking() });
    const paused = await engine.execute({});
    const before = JSON.stringify(paused);
    await expect(engine.send(paused, command as never)).rejects.toMatchObject({ code });
    expect(JSON.stringify(paused)).toBe(before);
  });
});
