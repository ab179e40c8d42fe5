import { describe, expect, it } from "vitest";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { memoryStore } from "../../stores/databases/memory/memory-store.ts";
import { writtenRuns } from "../../testing/contract/records/runs.ts";
import { startCommit, stepCommit } from "../../testing/index.ts";
import { virtualEnvironment } from "../../testing/virtual-environment.ts";
import { createRuntime } from "../create-runtime.ts";
import type { EndedExecution } from "./ended-execution.ts";

const dayMs = 24 * 60 * 60_000;

/** A store with three executions of two runs each, whose second runs began one, two and three days ago, and one that has ended. */
async function setUp(change: (store: SnapshotStore) => Partial<SnapshotStore> = () => ({})) {
  const environment = virtualEnvironment();
  const inner = memoryStore({ now: () => environment.now(), idempotencyRetentionMs: 0 });
  const store = { ...inner, ...change(inner) };
  const now = environment.now();
  for (const [index, id] of ["a", "b", "c"].entries()) {
    await writtenRuns(inner, id, [now + index * dayMs], { definitionId: id === "c" ? "other" : "loop", incarnation: `${id}-1` });
  }
  await environment.advance(3 * dayMs);
  const runtime = createRuntime({ store, environment, workflows: [], nodeDefinitions: {}, drive: false });
  const versions = async (id: string): Promise<number[]> => (await inner.events(id, -1, 100)).map(({ version }) => version);
  return { environment, inner, store, runtime, versions, before: now + 1.5 * dayMs };
}

const whole = [0, 1, 2, 3, 4, 5];
const trimmed = [0, 3, 4, 5];

describe("earlier runs", () => {
  it("that ended before the time are deleted by a prune too", async () => {
    const { runtime, versions, before } = await setUp();
    const expected = { executions: 2, events: 4, trimmed: ["a", "b"].map((id) => ({ workflowId: id, incarnation: `${id}-1` })), left: [] };
    expect(await runtime.prune({ before, dryRun: true })).toMatchObject({ executions: 0, earlierRuns: expected });
    expect(await versions("a")).toEqual(whole);
    expect(await runtime.prune({ before })).toMatchObject({ executions: 0, earlierRuns: expected });
    expect([await versions("a"), await versions("b"), await versions("c")]).toEqual([trimmed, trimmed, whole]);
    await runtime.close();
  });

  it("stay if a prune names statuses or another workflow", async () => {
    const { runtime, versions, before } = await setUp();
    expect((await runtime.prune({ before, statuses: ["failed"] })).earlierRuns.executions).toBe(0);
    expect((await runtime.prune({ before, definitionId: "other" })).earlierRuns.executions).toBe(0);
    expect(await versions("a")).toEqual(whole);
    expect((await runtime.prune({ before, definitionId: "loop", limit: 1 })).earlierRuns.executions).toBe(1);
    await runtime.close();
  });

  it("are passed on before they are deleted, each with the first event", async () => {
    const { inner, runtime, versions, before } = await setUp();
    const history = await inner.events("a", -1, 3);
    const kept: EndedExecution[] = [];
    const there: number[][] = [];
    const report = await runtime.prune({
      before,
      async keepEvents(execution) {
        there.push(await versions(execution.workflowId));
        kept.push(execution);
      },
    });
    expect(report.earlierRuns).toMatchObject({ executions: 2, events: 4 });
    expect(there).toEqual([whole, whole]);
    expect(kept.map(({ workflowId, beforeRun }) => [workflowId, beforeRun])).toEqual([
      ["a", 2],
      ["b", 2],
    ]);
    expect(kept[0]!.events).toEqual(history);
    expect(await versions("a")).toEqual(trimmed);
    await runtime.close();
  });

  it("stay if they cannot be kept elsewhere", async () => {
    const { runtime, versions, before } = await setUp();
    await expect(runtime.prune({ before, keepEvents: () => Promise.reject(new TypeError("full")) })).rejects.toThrow("full");
    expect([await versions("a"), await versions("b")]).toEqual([whole, whole]);
    await runtime.close();
  });

  it("of an ended execution are counted once, with the execution", async () => {
    const { inner, runtime, environment } = await setUp();
    await inner.commit(stepCommit((await inner.load("a"))!, { status: "completed" }));
    await environment.advance(1);
    for (const dryRun of [true, false]) {
      const report = await runtime.prune({ before: environment.now(), dryRun });
      expect(report).toMatchObject({ executions: 1, events: 7, earlierRuns: { executions: 2, events: 4 } });
    }
    await runtime.close();
  });

  it("leave a gap in the history that a later prune passes on", async () => {
    const { inner, runtime, environment } = await setUp();
    await runtime.prune({ before: environment.now() });
    await inner.commit(stepCommit((await inner.load("a"))!, { status: "completed" }));
    await environment.advance(1);
    const kept: EndedExecution[] = [];
    await runtime.prune({ before: environment.now(), keepEvents: async (execution) => void kept.push(execution) });
    expect(kept.map(({ events }) => events.map(({ version }) => version))).toEqual([[...trimmed, 6]]);
    await runtime.close();
  });

  it("are deleted by workers after the retention of their workflow", async () => {
    const { inner, environment, versions } = await setUp();
    await inner.create(startCommit("ended", { definitionId: "loop", status: "completed" }));
    const retention = { loop: "36h", other: "36h" };
    const worker = createRuntime({ store: inner, environment, workflows: [], nodeDefinitions: {}, retention });
    await environment.advance(1000);
    // the worker does not know the workflows, and parks the executions
    const first = async (id: string): Promise<number[]> => (await versions(id)).slice(0, 4);
    expect([await first("a"), await first("b"), await first("c")]).toEqual([trimmed, trimmed, whole.slice(0, 4)]);
    await environment.advance(dayMs);
    expect(await first("c")).toEqual(trimmed);
    expect(await versions("ended")).toEqual([0]);
    await worker.close();
  });
});
