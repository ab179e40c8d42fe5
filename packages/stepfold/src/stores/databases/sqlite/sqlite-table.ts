import type { DatabaseSync } from "node:sqlite";
import type { EpochMs } from "../../../core/values/json.ts";
import { SqliteTable } from "../sqlite-dialect/sqlite-table.ts";
import { isBusy } from "./sqlite-error.ts";
import { sqliteSession } from "./sqlite-session.ts";

/** Executions in an open database, which is closed in the end. */
export function sqliteTable(db: DatabaseSync, now: () => EpochMs, isShared: boolean): SqliteTable {
  return new SqliteTable(sqliteSession(db, now), {
    name: "sqlite",
    features: { clock: "store", durable: isShared, multiProcess: isShared, permits: true },
    now: "?1",
    // one wait for the disk serves all writes that are issued in one turn of the event loop; other processes wait as long for theirs
    grouping: { maxWrites: 256, isOutage: isBusy, gather: () => new Promise((resolve) => setImmediate(resolve)) },
  });
}
