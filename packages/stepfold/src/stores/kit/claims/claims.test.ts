import { describe, expect, it } from "vitest";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { startCommit } from "../../../testing/index.ts";
import { MemoryTable } from "../../databases/memory/memory-table.ts";
import type { DueClaimed, ExecutionTable } from "../execution-table.ts";
import { storeOver } from "../store-over.ts";
import { claimOf } from "../writing/row-writes.ts";

const lease = { owner: "worker", leaseMs: 60_000 };

/** A table that claims in one round trip, and tells of what else is due as it is asked to. */
class FastTable extends MemoryTable {
  readonly asked: string[] = [];
  readonly told: Pick<DueClaimed, "areKeysDue">;
  readonly givesRows: boolean;

  constructor(told: Pick<DueClaimed, "areKeysDue">, givesRows: boolean) {
    super(() => 1_000);
    this.told = told;
    this.givesRows = givesRows;
  }

  override async load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    this.asked.push("load");
    return super.load(ids);
  }

  override async dueKeys(...query: Parameters<ExecutionTable["dueKeys"]>): ReturnType<ExecutionTable["dueKeys"]> {
    this.asked.push("dueKeys");
    return super.dueKeys(...query);
  }

  async claimDue({ limit, overdueMs, ...by }: Parameters<NonNullable<ExecutionTable["claimDue"]>>[0]): Promise<DueClaimed> {
    this.asked.push("claimDue");
    const { executions: due } = await this.due({ keys: null, limit, overdueMs });
    await this.write(due.map((guard) => claimOf(guard, by)));
    const { now, found } = await this.read(due.map(({ id }) => id));
    const rows = await super.load(this.givesRows ? [...found.keys()] : []);
    return { now, executions: [...found.values()], rows, ...this.told };
  }
}

function opened(told: Pick<DueClaimed, "areKeysDue">, givesRows: boolean): { table: FastTable; store: SnapshotStore } {
  const table = new FastTable(told, givesRows);
  return { table, store: storeOver(table, { errorOf: (cause) => cause as never }) };
}

describe("claims of a table with a fast path", () => {
  it("load only what was not read in the same round trip", async () => {
    for (const givesRows of [true, false]) {
      const { table, store } = opened({ areKeysDue: false }, givesRows);
      await store.create(startCommit("a"));
      const claimed = await store.claim({ ...lease, limit: 10 });
      expect(claimed.map(({ claim, snapshot }) => [claim.workflowId, claim.fence, snapshot.version])).toEqual([["a", 1, 0]]);
      expect(table.asked).toEqual(givesRows ? ["claimDue"] : ["claimDue", "load"]);
    }
  });

  it("ask for permits unless nothing with one is due", async () => {
    for (const areKeysDue of [true, false]) {
      const { table, store } = opened({ areKeysDue }, true);
      await store.create(startCommit("a", { head: { permit: { key: "x", limit: 1 } } }));
      const claimed = await store.claim({ ...lease, limit: 10 });
      expect(claimed).toHaveLength(areKeysDue ? 1 : 0);
      expect(table.asked.includes("dueKeys")).toBe(areKeysDue);
    }
  });

  it("leave no room for permits in the next claim if nothing with one is due", async () => {
    const { table, store } = opened({ areKeysDue: false }, true);
    for (const id of ["a", "b"]) await store.create(startCommit(id));
    for (const _ of [1, 2]) expect(await store.claim({ ...lease, limit: 1 })).toHaveLength(1);
    expect(table.asked).toEqual(["claimDue", "claimDue"]);
  });
});
