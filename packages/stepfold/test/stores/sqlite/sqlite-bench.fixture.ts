import { DatabaseSync } from "node:sqlite";
import { sqliteStore } from "../../../src/stores/databases/sqlite/sqlite-store.ts";
import type { StoreBench } from "../../../src/testing/index.ts";

/** An empty SQLite database whose clock moves only when told. */
export function sqliteBench(path: string): StoreBench {
  let now = 1_000_000;
  // what a power loss would cost is no matter here; waiting for the disk is
  const open = () => sqliteStore(path, { now: () => now, idempotencyRetentionMs: 1000, synchronous: "NORMAL" });
  const advance = async (durationMs: number): Promise<void> => {
    now += durationMs;
  };
  const damage = async (workflowId: string): Promise<void> => {
    const db = new DatabaseSync(path);
    db.prepare("UPDATE executions SET head = '{' WHERE id = ?").run(workflowId);
    db.close();
  };
  // what is in memory cannot be reached by another connection
  return { store: open(), retentionMs: 1000, open: async () => open(), advance, ...(path !== ":memory:" && { damage }) };
}
