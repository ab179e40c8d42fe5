import type { DatabaseSync } from "node:sqlite";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { sqliteLayout } from "../databases/sqlite-dialect/sqlite-schema.ts";

/** Brings a file to today's layout. Any number of processes may do so at once: the first one works, the others find it done. */
export function migrate(db: DatabaseSync): void {
  if (layoutOf(db) === sqliteLayout.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    const from = layoutOf(db);
    if (from > sqliteLayout.length) {
      const reason = `the file has layout ${from}, this version of Stepfold knows up to ${sqliteLayout.length}. Update Stepfold`;
      throw new StepfoldError("STORE_REJECTED", { store: "sqlite", reason });
    }
    for (const statement of sqliteLayout.slice(from).flat()) db.exec(statement);
    db.exec(`PRAGMA user_version = ${sqliteLayout.length}`);
    db.exec("COMMIT");
  } catch (cause) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw cause;
  }
}

function layoutOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.user_version ?? 0);
}
