import { DatabaseSync } from "node:sqlite";
import { sqliteStore } from "../../../src/stores/databases/sqlite/sqlite-store.ts";
import type { StoreBench } from "../../../src/testing/index.ts";

/** A bench on an empty SQLite database whose clock moves only by `advance`. */
export function sqliteBench(path: string): StoreBench {
  let now = 1_000_000;
  // `synchronous` is NORMAL because these tests lose no power, and need not wait for the disk
  const open = () => sqliteStore(path, { now: () => now, idempotencyRetentionMs: 1000, synchronous: "NORMAL" });
  const advance = async (durationMs: number): Promise<void> => {
    now += durationMs;
  };
  const damage = async (workflowId: string): Promise<void> => {
    const db = new DatabaseSync(path);
    db.prepare("UPDATE executions SET head = '{' WHERE id = ?").run(workflowId);
    db.close();
  };
  // another connection cannot reach a database in memory, so `damage` is not possible there
  return { store: open(), retentionMs: 1000, open: async () => open(), advance, ...(path !== ":memory:" && { damage }) };
}
