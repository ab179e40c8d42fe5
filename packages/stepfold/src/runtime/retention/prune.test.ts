import { describe, expect, it } from "vitest";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { memoryStore } from "../../stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../testing/virtual-environment.ts";
import { createRuntime } from "../create-runtime.ts";
import type { EndedExecution } from "./ended-execution.ts";

const dayMs = 24 * 60 * 60_000;
const workflow = (id: string, type = "work") => ({ id, nodes: [{ id: "only", type }], edges: [] });
const workflows = [workflow("invoices"), workflow("reminders"), workflow("failing", "fail"), workflow("approvals", "ask")];
const nodeDefinitions = {
  work: { executor: () => ({ data: "done" }) },
  fail: { executor: () => Promise.reject(new Error("no")) },
  ask: { executor: () => ({ __pause: true as const }) },
};

function setUp(change: (store: SnapshotStore) => Partial<SnapshotStore> = () => ({})) {
  const environment = virtualEnvironment();
  const inner = memoryStore({ now: () => environment.now(), idempotencyRetentionMs: 0 });
  const store = { ...inner, ...change(inner) };
  const runtime = createRuntime({ store, environment, workflows, nodeDefinitions, pollMs: 20 * dayMs });
  const ids = async (): Promise<string[]> => (await inner.list()).items.map(({ workflowId }) => workflowId).sort();
  const finish = async (definition: string, workflowId: string): Promise<void> => {
    await (await runtime.start(definition, { workflowId })).settled();
    await environment.advance(1000);
  };
  const kept: EndedExecution[] = [];
  const keepEvents = async (execution: EndedExecution): Promise<void> => void kept.push(execution);
  return { environment, store, inner, runtime, ids, finish, kept, keepEvents, keptIds: () => kept.map(({ workflowId }) => workflowId) };
}

describe("prune", () => {
  it("passes on the whole history of each before it is deleted, the oldest first", async () => {
    const { environment, inner, runtime, ids, finish, kept } = setUp();
    const before = environment.now() + 2500;
    for (const id of ["c", "a", "b"]) await finish("invoices", id);
    await finish("invoices", "young");
    const history = await inner.events("c", -1, 10);
    const there: string[][] = [];
    const report = await runtime.prune({
      before,
      async keepEvents(execution) {
        there.push(await ids());
        kept.push(execution);
      },
    });
    expect(there).toEqual([
      ["a", "b", "c", "young"],
      ["a", "b", "young"],
      ["b", "young"],
    ]);
    expect(await ids()).toEqual(["young"]);
    expect(report).toMatchObject({ executions: 3, events: kept.reduce((sum, { events }) => sum + events.length, 0) });
    const [first] = kept;
    expect(first).toMatchObject({
      workflowId: "c",
      status: "completed",
      definition: { id: "invoices" },
      version: first!.events.length - 1,
    });
    expect(history.map(({ event }) => event.type)).toEqual(["started", "completed"]);
    expect(first!.events).toEqual(history);
    await runtime.close();
  });

  it("takes only what its options name, like the store", async () => {
    const { environment, runtime, ids, finish, keepEvents, keptIds } = setUp();
    for (const id of ["a", "b", "c"]) await finish("invoices", id);
    await finish("reminders", "d");
    await finish("failing", "e");
    await finish("approvals", "open");
    const before = environment.now() + dayMs;
    expect(await runtime.prune({ before: 1, keepEvents })).toMatchObject({ executions: 0, events: 0 });
    await runtime.prune({ before, statuses: [], keepEvents });
    expect(keptIds()).toEqual([]);
    await runtime.prune({ before, statuses: ["failed"], keepEvents });
    expect(keptIds()).toEqual(["e"]);
    await runtime.prune({ before, definitionId: "reminders", keepEvents });
    expect(keptIds()).toEqual(["e", "d"]);
    await runtime.prune({ before, limit: 2, keepEvents });
    expect(keptIds()).toEqual(["e", "d", "a", "b"]);
    await runtime.prune({ before, keepEvents });
    expect(keptIds()).toEqual(["e", "d", "a", "b", "c"]);
    expect(await ids()).toEqual(["open"]);
    await runtime.close();
  });

  it("passes on nothing and deletes nothing in a dry run", async () => {
    const { environment, runtime, ids, finish, keepEvents, keptIds } = setUp();
    await finish("invoices", "a");
    const before = environment.now() + dayMs;
    expect(await runtime.prune({ before, dryRun: true, keepEvents })).toMatchObject({ executions: 1, events: 2 });
    expect([keptIds(), await ids()]).toEqual([[], ["a"]]);
    await runtime.close();
  });

  it("without keepEvents is the store's own", async () => {
    const { environment, runtime, ids, finish } = setUp();
    await finish("invoices", "a");
    await finish("approvals", "open");
    expect(await runtime.prune({ before: environment.now() + dayMs })).toMatchObject({ executions: 1, events: 2 });
    expect(await ids()).toEqual(["open"]);
    await runtime.close();
  });

  it("stops if keepEvents rejects, and passes the same on again the next time", async () => {
    const { environment, runtime, ids, finish, kept, keepEvents } = setUp();
    for (const id of ["a", "b", "c"]) await finish("invoices", id);
    const before = environment.now() + dayMs;
    const failing = async (execution: EndedExecution): Promise<void> => {
      kept.push(execution);
      if (execution.workflowId === "b") throw new RangeError("the disk is full");
    };
    await expect(runtime.prune({ before, keepEvents: failing })).rejects.toThrow("the disk is full");
    expect(await ids()).toEqual(["b", "c"]);
    await runtime.prune({ before, keepEvents });
    expect(kept.map(({ workflowId }) => workflowId)).toEqual(["a", "b", "b", "c"]);
    expect(kept[2]).toEqual(kept[1]);
    expect(await ids()).toEqual([]);
    await runtime.close();
  });

  it("reads long histories and long lists page by page", async () => {
    const limits: number[] = [];
    const { environment, runtime, finish, kept, keepEvents, ids } = setUp((inner) => ({
      // a store with small pages
      events: (workflowId, afterVersion, limit) => {
        limits.push(limit);
        return inner.events(workflowId, afterVersion, Math.min(limit, 1));
      },
      list: (query = {}) => inner.list({ ...query, limit: 2 }),
    }));
    const all = Array.from({ length: 7 }, (_, index) => `id-${index}`);
    for (const id of all) await finish("invoices", id);
    await runtime.prune({ before: environment.now() + dayMs, limit: 5, keepEvents });
    expect(kept.map(({ workflowId, events }) => [workflowId, events.length])).toEqual(all.slice(0, 5).map((id) => [id, 2]));
    expect(await ids()).toEqual(all.slice(5));
    expect(Math.max(...limits)).toBeLessThanOrEqual(1000);
    await runtime.close();
  });

  it("skips what another process deletes meanwhile", async () => {
    const { environment, inner, runtime, ids, finish, keepEvents, keptIds } = setUp();
    for (const id of ["a", "b", "c"]) await finish("invoices", id);
    const report = await runtime.prune({
      before: environment.now() + dayMs,
      async keepEvents(execution) {
        await keepEvents(execution);
        if (execution.workflowId === "a") for (const id of ["a", "b"]) await inner.delete(id);
      },
    });
    expect(keptIds()).toEqual(["a", "c"]);
    expect(report).toMatchObject({ executions: 1, events: 2 });
    expect(await ids()).toEqual([]);
    await runtime.close();
  });

  it("never deletes another execution that has the id by then", async () => {
    const { environment, inner, runtime, ids, finish, kept } = setUp();
    await finish("invoices", "a");
    const before = environment.now() + dayMs;
    const report = await runtime.prune({
      before,
      async keepEvents(execution) {
        kept.push(execution);
        await inner.delete("a");
        await environment.advance(1);
        await finish("reminders", "a");
      },
    });
    expect(report).toMatchObject({ executions: 0, events: 0 });
    expect(kept.map(({ definition }) => definition.id)).toEqual(["invoices"]);
    expect(await ids()).toEqual(["a"]);
    await runtime.close();
  });

  it("is refused for options that make no sense, and once the runtime is closed", async () => {
    const { runtime, finish, ids, keepEvents } = setUp();
    await finish("invoices", "a");
    for (const [option, wrong] of [
      ["before", { before: Number.NaN, keepEvents }],
      ["before", { before: "30d" as unknown as number }],
      ["limit", { before: 1e15, limit: 0, keepEvents }],
      ["limit", { before: 1e15, limit: 0 }],
      ["statuses", { before: 1e15, statuses: ["active" as "failed"], keepEvents }],
      ["keepEvents", { before: 1e15, keepEvents: "archive" as unknown as typeof keepEvents }],
    ] as const) {
      await expect(runtime.prune(wrong)).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option } });
    }
    await runtime.close();
    await expect(runtime.prune({ before: 1e15 })).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
    expect(await ids()).toEqual(["a"]);
  });
});
