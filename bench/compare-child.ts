import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Pool } from "pg";
import type * as Library from "stepfold";
import type * as Runtime from "stepfold/runtime";
import type * as Postgres from "stepfold/stores/postgres";
import type * as Sqlite from "stepfold/stores/sqlite";
import { withDatabase } from "./database.ts";
import { line } from "./line.ts";

// One build under one load, in a process of its own, for compare.ts: node bench/compare-child.ts CHECKOUT LOAD.
// Each message is answered with the nanoseconds per step of one slice.

/** What to do before the process ends. */
const ends: (() => Promise<void>)[] = [];

/** Does some work; gives the number of its steps. */
type Slice = () => Promise<number>;

const [checkout = "", loadName = ""] = process.argv.slice(2);

/** An entry of the checkout's library, wherever its build puts it: `./runtime`. */
async function library<T>(entry: string): Promise<T> {
  const folder = join(checkout, "packages/stepfold");
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    exports: Readonly<Record<string, { readonly default: string }>>;
  };
  return (await import(pathToFileURL(join(folder, exports[entry]!.default)).href)) as T;
}

const output = { data: { ok: true } };

async function inMemory(length: number, steps: number, executor: () => typeof output | Promise<typeof output>): Promise<Slice> {
  const { WorkflowEngine } = await library<typeof Library>(".");
  const engine = new WorkflowEngine({ workflow: line(length), nodeDefinitions: { work: { executor } } });
  return async () => {
    for (let done = 0; done < steps; done += length) await engine.execute({});
    return steps;
  };
}

async function onSqlite(path: string, concurrency: number): Promise<Slice> {
  const { sqliteStore } = await library<typeof Sqlite>("./stores/sqlite");
  return onStore(sqliteStore(path), concurrency);
}

/** In a schema of its own, which goes when the process ends. */
async function onPostgres(concurrency: number): Promise<Slice> {
  const { postgresStore } = await library<typeof Postgres>("./stores/postgres");
  const pool = new Pool({ connectionString: process.env.STEPFOLD_POSTGRES_URL ?? "postgres://postgres@127.0.0.1:5432/test", max: 10 });
  const schema = `compare_${process.pid}`;
  ends.push(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await pool.end();
  });
  return onStore(postgresStore(pool, { schema, migrate: true }), concurrency);
}

async function onStore(store: Library.SnapshotStore, concurrency: number): Promise<Slice> {
  const { createRuntime } = await library<typeof Runtime>("./runtime");
  const nodeDefinitions = { work: { executor: async () => output } };
  const runtime = createRuntime({ store, workflows: [line(10)], nodeDefinitions });
  const one = async (): Promise<void> => {
    const run = await runtime.start("line-10");
    await run.result();
  };
  return async () => {
    await Promise.all(Array.from({ length: concurrency }, one));
    return concurrency * 10;
  };
}

const loads: Readonly<Record<string, (path: string) => Promise<Slice>>> = {
  "memory-10": () => inMemory(10, 3_000, async () => output),
  "memory-10-sync": () => inMemory(10, 3_000, () => output),
  "memory-1000": () => inMemory(1_000, 3_000, async () => output),
  "sqlite-1": (path) => onSqlite(path, 1),
  "sqlite-50": (path) => onSqlite(path, 50),
  "postgres-1": () => onPostgres(1),
  "postgres-50": () => onPostgres(50),
};

async function nsPerStep(slice: Slice): Promise<number> {
  const from = process.hrtime.bigint();
  const steps = await slice();
  return Number(process.hrtime.bigint() - from) / steps;
}

await withDatabase(async (path) => {
  const slice = await loads[loadName]!(path);
  const warmUntil = performance.now() + 3_000;
  while (performance.now() < warmUntil) await slice();
  process.send!("warm");
  for (;;) {
    const more = await new Promise((resolve) => process.once("message", resolve));
    if (!more) break;
    process.send!(await nsPerStep(slice));
  }
  for (const end of ends) await end();
});
process.exit();
