import { afterEach, describe, expect, it } from "vitest";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { RuntimeOptions } from "../../../src/runtime/context/runtime-options.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

async function asked(data: object, more: Partial<RuntimeOptions> = {}) {
  const workflow = { id: "publish", nodes: [{ id: "ask", type: "approval", data }], edges: [] };
  const { runtime, environment } = setUp({ nodeDefinitions: builtinNodes, workflows: [workflow] as never, ...more });
  const run = await runtime.start("publish");
  await environment.settle();
  return { run, environment };
}

const approved = { approved: true };

describe("F12: an idempotency key", () => {
  it("of one person does not swallow the vote of another", async () => {
    const { run } = await asked({ responders: ["ada", "bob"], quorum: 2 });
    expect(await run.resume({ payload: approved, by: "ada", idempotencyKey: "k" })).toEqual({ applied: true });
    expect(await run.resume({ payload: approved, by: "ada", idempotencyKey: "k" })).toEqual({ applied: false });
    await expect(run.resume({ payload: approved, by: "bob", idempotencyKey: "k" })).rejects.toMatchObject({ code: "RESUME_CONFLICT" });
    expect(await run.resume({ payload: approved, by: "bob", idempotencyKey: "another" })).toEqual({ applied: true });
    expect(await run.result()).toMatchObject({ approved: true });
  });

  it("tells nothing to somebody who may not answer", async () => {
    const { run } = await asked({ responders: ["ada", "bob"], quorum: 2 });
    await run.resume({ payload: approved, by: "ada", idempotencyKey: "k" });
    for (const by of ["mallory", undefined]) {
      const answer = run.resume({ payload: approved, by, idempotencyKey: "k" });
      await expect(answer).rejects.toMatchObject({ code: "RESPONDER_DENIED" });
    }
  });

  it("of a repeated answer is known after the execution has ended", async () => {
    const { run } = await asked({ responders: ["ada"] });
    const answer = { payload: approved, by: "ada", idempotencyKey: "k" };
    await run.resume(answer);
    await run.result();
    expect(await run.resume(answer)).toEqual({ applied: false });
    await expect(run.resume({ ...answer, by: "bob" })).rejects.toMatchObject({ code: "RESUME_CONFLICT" });
  });
});

describe("F16 d: a key of somebody who may not answer", () => {
  it("is refused before the history is read", async () => {
    const reads: string[] = [];
    const inner = memoryStore();
    const store: SnapshotStore = {
      ...inner,
      events: (workflowId, after, limit) => {
        reads.push(workflowId);
        return inner.events(workflowId, after, limit);
      },
    };
    const { run } = await asked({ responders: ["ada"] }, { store });
    const answer = run.resume({ payload: approved, by: "mallory", idempotencyKey: "k" });
    await expect(answer).rejects.toMatchObject({ code: "RESPONDER_DENIED" });
    expect(reads).toEqual([]);
    expect(await run.resume({ payload: approved, by: "ada", idempotencyKey: "k" })).toEqual({ applied: true });
    expect(reads).toEqual([]);
    expect(await run.resume({ payload: approved, by: "ada", idempotencyKey: "k" })).toEqual({ applied: false });
    expect(reads).toHaveLength(1);
  });
});

describe("F13: who approved", () => {
  it("is the one who answered, whatever the payload says", async () => {
    const { run } = await asked({ responders: ["ada"] });
    await run.resume({ payload: { approved: true, by: "the-boss", comment: "fine" }, by: "ada" });
    expect(await run.result()).toEqual({ approved: true, comment: "fine", by: "ada" });
  });

  it("is not told where nobody gave a name", async () => {
    const { run } = await asked({});
    await run.resume({ payload: { approved: false, by: "the-boss" } });
    expect(await run.result()).toEqual({ approved: false });
  });
});
