import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Library from "stepfold";
import type * as Runtime from "stepfold/runtime";
import type * as Sqlite from "stepfold/stores/sqlite";
import { withDatabase } from "./database.ts";
import { line } from "./line.ts";

// One build under one load, in a process of its own, for compare.ts: node bench/compare-child.ts CHECKOUT LOAD.
// Each message is answered with the nanoseconds per step of one slice.

/** Does some work; gives the number of its steps. */
type Slice = () => Promise<number>;

const [checkout = "", loadName = ""] = process.argv.slice(2);

async function library<T>(entry: string): Promise<T> {
  return (await import(pathToFileURL(join(checkout, "packages/stepfold/dist", entry)).href)) as T;
}

const output = { data: { ok: true } };

async function inMemory(length: number, steps: number, executor: () => typeof output | Promise<typeof output>): Promise<Slice> {
  const { WorkflowEngine } = await library<typeof Library>("index.js");
  const engine = new WorkflowEngine({ workflow: line(length), nodeDefinitions: { work: { executor } } });
  return async () => {
    for (let done = 0; done < steps; done += length) await engine.execute({});
    return steps;
  };
}

async function onSqlite(path: string, concurrency: number): Promise<Slice> {
  const { createRuntime } = await library<typeof Runtime>("runtime/index.js");
  const { sqliteStore } = await library<typeof Sqlite>("stores/sqlite/index.js");
  const nodeDefinitions = { work: { executor: async () => output } };
  const runtime = createRuntime({ store: sqliteStore(path), workflows: [line(10)], nodeDefinitions });
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
});
process.exit();
