import { StatementSync } from "node:sqlite";
import { type WorkflowDefinition, WorkflowEngine } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { withDatabase } from "../database.ts";
import type { Group } from "../group.ts";
import { fork, trivial } from "../line.ts";
import { type Sample, spread } from "../measure.ts";

/** Runs executions in memory, one after the other, each from its start to its end. */
async function inMemory(workflow: WorkflowDefinition, steps: number): Promise<Sample> {
  const engine = new WorkflowEngine({ workflow, nodeDefinitions: { work: { executor: trivial } } });
  const took: number[] = [];
  const runs = Math.ceil(20_000 / steps);
  for (let slice = 0; slice < 20; slice++) {
    const began = performance.now();
    for (let run = 0; run < runs; run++) {
      const snapshot = await engine.execute({});
      if (snapshot.steps !== steps || snapshot.status !== "completed") throw new TypeError(`It ended after ${snapshot.steps} steps`);
    }
    if (slice >= 10) took.push(((performance.now() - began) * 1e6) / (runs * steps));
  }
  return { nsPerStep: spread(took).median };
}

/** Measures the cost of one item of a map: the bytes that its steps bind to SQL statements, and the time. */
async function mapped(items: number): Promise<Sample> {
  let bound = 0;
  const original = StatementSync.prototype.run as (...values: unknown[]) => unknown;
  const counting = function (this: StatementSync, ...values: unknown[]): unknown {
    for (const value of values) bound += typeof value === "string" ? Buffer.byteLength(value) : 8;
    return original.apply(this, values);
  };
  Object.assign(StatementSync.prototype, { run: counting });
  const each: WorkflowDefinition = { id: "each", nodes: [{ id: "one", type: "work" }], edges: [] };
  const data = { workflow: "each", items: "{{ input }}", concurrency: 1 };
  const workflow = { id: "all", nodes: [{ id: "m", type: "map", data }], edges: [], workflows: { each } };
  let atFirst = 0;
  let boundAtFirst = 0;
  let done = 0;
  let atLast = 0;
  let boundAtLast = 0;
  const executor = async (): Promise<{ data: { ok: true } }> => {
    done++;
    // the first items include the cost of starting the map, and the last ones the cost of ending it, so both are left out
    if (done === 10) [atFirst, boundAtFirst] = [performance.now(), bound];
    if (done === items) [atLast, boundAtLast] = [performance.now(), bound];
    return { data: { ok: true } };
  };
  await withDatabase(async (path) => {
    const store = sqliteStore(path);
    const runtime = createRuntime({ store, workflows: [workflow], nodeDefinitions: { ...builtinNodes, work: { executor } } });
    const run = await runtime.start("all", { input: Array.from({ length: items }, (_, item) => item) });
    await run.result();
    await runtime.close();
    await store.close();
  });
  Object.assign(StatementSync.prototype, { run: original });
  const steps = items - 10;
  return { bytesPerItem: (boundAtLast - boundAtFirst) / steps, usPerItem: ((atLast - atFirst) * 1_000) / steps };
}

export const concurrency: Group = {
  cases: {
    "fork-500-all": { sample: () => inMemory(fork(500, "all"), 502) },
    "fork-50-all": { sample: () => inMemory(fork(50, "all"), 52) },
    "fork-500": { sample: () => inMemory(fork(500), 501) },
    "map-10000": { once: true, sample: () => mapped(10_000) },
    "map-100": { once: true, sample: () => mapped(100) },
  },
  rows: [
    {
      work: "a fork of 500 into `all`, in memory",
      figure: { of: "fork-500-all", key: "nsPerStep" },
      unit: "ns/step",
      reference: { name: "the same without a join", figure: { of: "fork-500", key: "nsPerStep" } },
    },
    {
      work: "the same",
      figure: { of: "fork-500-all", key: "nsPerStep" },
      unit: "ns/step",
      reference: { name: "a fork of 50 into `all`", figure: { of: "fork-50-all", key: "nsPerStep" } },
      target: { of: "ratio", atMost: 1.5 },
    },
    {
      work: "a map of 10,000 items on SQLite: bound parameters",
      figure: { of: "map-10000", key: "bytesPerItem" },
      unit: "bytes/item",
      reference: { name: "a map of 100 items", figure: { of: "map-100", key: "bytesPerItem" } },
      target: { of: "ratio", atMost: 1.1 },
    },
    {
      work: "the same: time",
      figure: { of: "map-10000", key: "usPerItem" },
      unit: "µs/item",
      reference: { name: "a map of 100 items", figure: { of: "map-100", key: "usPerItem" } },
    },
  ],
};
