import { DatabaseSync } from "node:sqlite";
import { sqliteStore } from "stepfold/stores/sqlite";
import { byTurns, durableSteps, type Worker } from "../by-turns.ts";
import { withDatabase } from "../database.ts";
import type { Group } from "../group.ts";
import type { Sample } from "../measure.ts";

/** A worker that writes `together` rows of 1 KB in one transaction and does nothing else. */
function rawRows(path: string, together: number): Worker {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  db.exec("CREATE TABLE rows (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, data TEXT NOT NULL)");
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const upsert = db.prepare(
    "INSERT INTO rows VALUES (?1, 0, ?2) ON CONFLICT (id) DO UPDATE SET version = version + 1, data = excluded.data",
  );
  const text = JSON.stringify({ data: "x".repeat(1013) });
  let written = 0;
  return {
    async work(ms) {
      const before = written;
      const from = performance.now();
      while (performance.now() - from < ms) {
        begin.run();
        for (let i = 0; i < together; i++) upsert.run(written++ % 1_000, text);
        commit.run();
      }
      return ((written - before) / (performance.now() - from)) * 1000;
    },
    async close() {
      db.close();
    },
  };
}

async function measured(concurrency: number): Promise<Sample> {
  return withDatabase(async (path) => {
    const store = sqliteStore(path);
    const [stepfold = 0, raw = 0] = await byTurns([durableSteps(store, concurrency), rawRows(`${path}.raw`, concurrency)]);
    await store.close();
    return { stepfold, raw };
  });
}

export const sqlite: Group = {
  cases: {
    "1-at-once": { sample: () => measured(1) },
    "50-at-once": { sample: () => measured(50) },
  },
  rows: [
    {
      work: "durable steps on SQLite, 1 execution at once",
      figure: { of: "1-at-once", key: "stepfold" },
      unit: "steps/s",
      reference: { name: "raw transactions of one 1 KB row", figure: { of: "1-at-once", key: "raw" } },
      target: { of: "ratio", atLeast: 0.5 },
    },
    {
      work: "durable steps on SQLite, 50 executions at once",
      figure: { of: "50-at-once", key: "stepfold" },
      unit: "steps/s",
      reference: { name: "raw transactions of 50 1 KB rows", figure: { of: "50-at-once", key: "raw" } },
      target: { of: "ratio", atLeast: 0.2 },
    },
  ],
};
