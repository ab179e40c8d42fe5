import { DatabaseSync } from "node:sqlite";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { withDatabase } from "../database.ts";
import type { Group } from "../group.ts";
import { line } from "../line.ts";
import { type Sample, sleep, spread } from "../measure.ts";

const warmMs = 300;
const sliceMs = 120;
const slices = 10;

/** Works while it is told to; counts what it has done. */
interface Worker {
  /** Works for some milliseconds; gives how many steps or rows a second. */
  readonly work: (ms: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** Executions of 10 steps, `concurrency` at once, each step committed with synchronous=FULL. They rest inside a step. */
function engine(path: string, concurrency: number): Worker {
  let steps = 0;
  let over = false;
  let gate = Promise.withResolvers<void>();
  const executor = async (): Promise<{ data: object }> => {
    await gate.promise;
    steps++;
    return { data: { ok: true } };
  };
  const store = sqliteStore(path);
  const runtime = createRuntime({ store, workflows: [line(10)], nodeDefinitions: { work: { executor } } });
  const oneAfterTheOther = async (): Promise<void> => {
    while (!over) {
      const run = await runtime.start("line-10");
      await run.result();
    }
  };
  const workers = Array.from({ length: concurrency }, oneAfterTheOther);
  return {
    async work(ms) {
      const before = steps;
      const from = performance.now();
      gate.resolve();
      await sleep(ms);
      gate = Promise.withResolvers();
      const rate = ((steps - before) / (performance.now() - from)) * 1000;
      await sleep(10); // what is under way comes to rest
      return rate;
    },
    async close() {
      over = true;
      gate.resolve();
      await Promise.all(workers);
      await runtime.close();
      await store.close();
    },
  };
}

/** Rows of 1 KB, `together` in one transaction, with nothing around them. */
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

/** Both in one process, by turns: a disk that others use changes its pace from one moment to the next. */
async function byTurns(concurrency: number): Promise<Sample> {
  return withDatabase(async (path) => {
    const workers = [engine(path, concurrency), rawRows(`${path}.raw`, concurrency)];
    const rates: number[][] = workers.map(() => []);
    for (const worker of workers) await worker.work(warmMs);
    for (let i = 0; i < slices; i++) {
      for (const [index, worker] of workers.entries()) rates[index]!.push(await worker.work(sliceMs));
    }
    for (const worker of workers) await worker.close();
    const [stepfold = 0, raw = 0] = rates.map((all) => spread(all).median);
    return { stepfold, raw };
  });
}

export const sqlite: Group = {
  cases: {
    "1-at-once": { sample: () => byTurns(1) },
    "50-at-once": { sample: () => byTurns(50) },
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
