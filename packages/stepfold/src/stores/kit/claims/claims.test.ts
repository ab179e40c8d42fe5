import { describe, expect, it } from "vitest";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { startCommit } from "../../../testing/index.ts";
import { MemoryTable } from "../../databases/memory/memory-table.ts";
import type { DueClaimed, ExecutionTable } from "../execution-table.ts";
import { storeOver } from "../store-over.ts";
import { claimOf } from "../writing/row-writes.ts";

const lease = { owner: "worker", leaseMs: 60_000 };

/** A table that claims in one round trip, and answers `keyedDue` as the test says. */
class FastTable extends MemoryTable {
  readonly asked: string[] = [];
  readonly steps: number[] = [];
  readonly told: Pick<DueClaimed, "keyedDue">;

  constructor(told: Pick<DueClaimed, "keyedDue">) {
    super(() => 1_000);
    this.told = told;
  }

  override async load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    this.asked.push("load");
    return super.load(ids);
  }

  override async dueKeys(...query: Parameters<ExecutionTable["dueKeys"]>): ReturnType<ExecutionTable["dueKeys"]> {
    this.asked.push("dueKeys");
    return super.dueKeys(...query);
  }

  override async exempt(...query: Parameters<MemoryTable["exempt"]>): ReturnType<MemoryTable["exempt"]> {
    this.asked.push("exempt");
    return super.exempt(...query);
  }

  async claimDue({ limit, overdueMs, fenceStep, ...by }: Parameters<NonNullable<ExecutionTable["claimDue"]>>[0]): Promise<DueClaimed> {
    this.asked.push("claimDue");
    this.steps.push(fenceStep);
    const { executions: due } = await this.due({ keys: null, limit, overdueMs });
    await this.write(due.map((guard) => claimOf(guard, guard.fence + fenceStep, by, true)));
    const { now, found } = await this.read(due.map(({ id }) => id));
    return { now, executions: [...found.values()], ...this.told };
  }
}

function opened(told: Pick<DueClaimed, "keyedDue">): { table: FastTable; store: SnapshotStore } {
  const table = new FastTable(told);
  return { table, store: storeOver(table, { errorOf: (cause) => cause as never }) };
}

describe("claims of a table with a fast path", () => {
  it("are one round trip, and load nothing", async () => {
    const { table, store } = opened({ keyedDue: "none" });
    const first = startCommit("a");
    await store.create(first);
    const claimed = await store.claim({ ...lease, limit: 10 });
    const { incarnation, head } = first;
    const [fence] = table.steps;
    expect(claimed).toEqual([
      { ...lease, workflowId: "a", incarnation, version: 0, sizeBytes: head.sizeBytes, fence, claimedAt: 1_000, expired: 0, crashes: 0 },
    ]);
    expect(table.asked).toEqual(["claimDue"]);
  });

  it("have the fences rise by steps that nobody can foresee", async () => {
    const { table, store } = opened({ keyedDue: "none" });
    await store.create(startCommit("a"));
    let last = 0;
    for (let round = 0; round < 20; round++) {
      const [claim = expect.fail("nothing was claimed")] = await store.claim({ ...lease, limit: 10 });
      expect(claim.fence - last).toBe(table.steps.at(-1));
      expect(claim.fence).toBeGreaterThan(last);
      last = claim.fence;
      await store.release(claim, 0);
    }
    expect(new Set(table.steps).size).toBeGreaterThan(15);
  });

  it("ask for permits unless nothing with one is due, and for those that need none only if there may be one", async () => {
    for (const [keyedDue, asked] of [
      ["none", []],
      ["some", ["dueKeys"]],
      ["exempt", ["exempt", "dueKeys"]],
    ] as const) {
      const { table, store } = opened({ keyedDue });
      await store.create(startCommit("a", { head: { permit: { key: "x", limit: 1 } } }));
      const claimed = await store.claim({ ...lease, limit: 10 });
      expect(claimed).toHaveLength(keyedDue === "none" ? 0 : 1);
      expect(table.asked.filter((name, index, all) => name !== "claimDue" && all.indexOf(name) === index)).toEqual(asked);
    }
  });

  it("leave no room for permits in the next claim if nothing with one is due", async () => {
    const { table, store } = opened({ keyedDue: "none" });
    for (const id of ["a", "b"]) await store.create(startCommit(id));
    for (const _ of [1, 2]) expect(await store.claim({ ...lease, limit: 1 })).toHaveLength(1);
    expect(table.asked).toEqual(["claimDue", "claimDue"]);
  });
});
