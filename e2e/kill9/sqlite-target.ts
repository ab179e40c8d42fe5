import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "./open-store.ts";
import { storedOf, type Tables, type Target } from "./stored.ts";

/** Makes a target on a SQLite file in a folder. */
export async function sqliteTarget(folder: string): Promise<Target> {
  const path = join(folder, "kill9.db");
  const url = `sqlite:${path}`;
  const { close } = await openStore(url, { migrate: true });
  await close();
  const ask = <Row>(work: (all: (sql: string, ...values: string[]) => Row[]) => Row[]): Row[] => {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
    try {
      return work((sql, ...values) => db.prepare(sql).all(...values) as unknown as Row[]);
    } finally {
      db.close();
    }
  };
  return {
    name: "sqlite",
    url,
    async countOpen() {
      const [row] = ask<{ open: number }>((all) => all("SELECT count(*) AS open FROM executions WHERE ended_at IS NULL"));
      return row!.open;
    },
    heldBy: async (owner) =>
      ask((all) => all("SELECT id AS workflowId, version FROM executions WHERE owner = ? AND ended_at IS NULL", owner)),
    async readAll() {
      const db = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
      const all = (sql: string): never => db.prepare(sql).all() as never;
      const tables: Tables = {
        executions: all("SELECT seq, id, incarnation, definition, metadata, version, status, head, owner FROM executions ORDER BY seq"),
        events: all("SELECT execution, version, commit_id, event FROM events ORDER BY execution, version, place"),
        children: all("SELECT execution, key, head FROM children ORDER BY execution, place"),
        definitions: all("SELECT key AS hash, text AS definition FROM records WHERE kind = 'definition'"),
      };
      db.close();
      return storedOf(tables);
    },
    // the test removes the whole folder
    drop: async () => undefined,
  };
}
