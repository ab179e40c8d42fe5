import type { DatabaseSync } from "node:sqlite";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { openSqlite } from "../../../src/stores/databases/sqlite/sqlite-client.ts";
import { sqliteError } from "../../../src/stores/databases/sqlite/sqlite-error.ts";
import { sqliteTable } from "../../../src/stores/databases/sqlite/sqlite-table.ts";
import { storeOver } from "../../../src/stores/kit/store-over.ts";

/** A statement that a store has run. */
export interface RunStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** What it has returned. */
  readonly rows: readonly unknown[];
}

/** Opens a store with its database and a list of the statements that the store runs. */
export function openInside(path: string): { db: DatabaseSync; statements: RunStatement[]; store: SnapshotStore } {
  const db = openSqlite(path, { synchronous: "NORMAL", busyTimeoutMs: 20 });
  const statements: RunStatement[] = [];
  const prepare = db.prepare.bind(db);
  const observed = new Proxy(db, {
    get(target, name) {
      if (name !== "prepare") {
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      }
      return (text: string) => {
        const statement = prepare(text);
        const run =
          (method: "all" | "get" | "run") =>
          (...values: never[]) => {
            const answer: unknown = statement[method](...values);
            statements.push({ text, values, rows: Array.isArray(answer) ? answer : method === "get" && answer ? [answer] : [] });
            return answer;
          };
        return { all: run("all"), get: run("get"), run: run("run") };
      };
    },
  });
  return {
    db,
    statements,
    store: storeOver(
      sqliteTable(observed, () => 1_000_000, true),
      { idempotencyRetentionMs: 1000, errorOf: sqliteError },
    ),
  };
}

/** The query plan of a statement, one line for each step. */
export function planOf(db: DatabaseSync, { text, values }: RunStatement): string {
  return db
    .prepare(`EXPLAIN QUERY PLAN ${text}`)
    .all(...(values as never[]))
    .map(({ detail }) => detail)
    .join("\n");
}
