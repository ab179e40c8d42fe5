import { defineDurable, type NodeDefinitions, type SnapshotStore, WorkflowEngine } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { sqliteStore } from "stepfold/stores/sqlite";
import { withDatabase } from "../database.ts";
import type { Group, Row } from "../group.ts";
import { circle } from "../line.ts";
import { type Sample, spread } from "../measure.ts";

/** How often both are measured, by turns. */
const rounds = 15;

/** Code of so many steps. */
const code = (times: number) =>
  defineDurable({
    id: "code",
    async run({ step }) {
      for (let i = 0; i < times; i++) await step.run("work", async () => ({ ok: true }));
    },
  });

/** Node definitions with which the circle runs so many steps in each execution. */
function circlingEach(times: number): NodeDefinitions {
  const counts = new Map<string, number>();
  return {
    work: {
      executor: async (_data, { workflowId }) => {
        const count = (counts.get(workflowId) ?? 0) + 1;
        counts.set(workflowId, count);
        return { data: { ok: true }, nextHandle: count < times ? "again" : null };
      },
    },
  };
}

type Run = (round: number) => Promise<unknown>;

/** Measures the time of one node of the loop and of one step of the code, in microseconds, by turns. */
async function byTurns(steps: number, node: Run, step: Run): Promise<Sample> {
  const took: Record<"node" | "step", number[]> = { node: [], step: [] };
  for (let round = -2; round < rounds; round++) {
    for (const [name, run] of [["node", node] as const, ["step", step] as const]) {
      const from = performance.now();
      await run(round);
      // the first rounds warm up
      if (round >= 0) took[name].push(((performance.now() - from) * 1000) / steps);
    }
  }
  return { node: spread(took.node).median, step: spread(took.step).median };
}

async function inEngine(): Promise<Sample> {
  const executions = 50;
  const times = 100;
  const graph = new WorkflowEngine({ workflow: circle, nodeDefinitions: circlingEach(times) });
  const durable = new WorkflowEngine({ workflow: code(times) });
  const all = async (engine: Pick<WorkflowEngine, "execute">): Promise<void> => {
    for (let i = 0; i < executions; i++) {
      const { status } = await engine.execute({});
      if (status !== "completed") throw new TypeError(`The execution is ${status}`);
    }
  };
  return byTurns(
    executions * times,
    () => all(graph),
    () => all(durable),
  );
}

/** Runs executions of so many steps on a store, so many at once. */
async function onStore(store: SnapshotStore, atOnce: number, times: number, executions = Math.max(4, atOnce)): Promise<Sample> {
  const workflows = [circle, code(times)];
  const runtime = createRuntime({ store, workflows, nodeDefinitions: circlingEach(times), maxExecutions: atOnce });
  const all = async (id: string): Promise<void> => {
    let left = executions;
    const oneAfterTheOther = async (): Promise<void> => {
      while (left-- > 0) await (await runtime.start(id)).result();
    };
    await Promise.all(Array.from({ length: atOnce }, oneAfterTheOther));
  };
  const sample = await byTurns(
    executions * times,
    () => all("circle"),
    () => all("code"),
  );
  await runtime.close();
  return sample;
}

function inSqlite(atOnce: number): Promise<Sample> {
  return withDatabase(async (path) => {
    const store = sqliteStore(path);
    const sample = await onStore(store, atOnce, atOnce === 1 ? 50 : 20);
    await store.close();
    return sample;
  });
}

/** Runs 10,000 steps in one visit, and measures the second and the last thousand. */
async function many(): Promise<Sample> {
  const times: number[] = [];
  const long = defineDurable({
    id: "long",
    async run({ step }) {
      for (let i = 0; i < 10_000; i++) {
        await step.run("work", async () => ({ ok: true }));
        if ((i + 1) % 1_000 === 0) times.push(performance.now());
      }
    },
  });
  return withDatabase(async (path) => {
    const store = sqliteStore(path);
    const runtime = createRuntime({ store, workflows: [long] });
    const took: Record<"second" | "last", number[]> = { second: [], last: [] };
    // medians of five visits
    for (let i = 0; i < 5; i++) {
      times.length = 0;
      await (await runtime.start(long)).result();
      took.second.push(times[1]! - times[0]!);
      took.last.push(times[9]! - times[8]!);
    }
    await runtime.close();
    await store.close();
    return { second: spread(took.second).median, last: spread(took.last).median };
  });
}

const row = (work: string, of: string, atMost: number): Row => ({
  work,
  figure: { of, key: "step" },
  unit: "µs/step",
  reference: { name: "a node of a loop", figure: { of, key: "node" } },
  target: { of: "ratio", atMost },
});

/** A step of durable code beside a node of a loop. */
export const codeSteps: Group = {
  cases: {
    engine: { sample: inEngine },
    memory: { sample: () => onStore(memoryStore(), 1, 100, 50) },
    sqlite: { sample: () => inSqlite(1), longestMs: 180_000 },
    "sqlite-50": { sample: () => inSqlite(50), longestMs: 300_000 },
    many: { sample: many, longestMs: 300_000 },
  },
  rows: [
    row("a step of code in WorkflowEngine", "engine", 2.5),
    row("the same in a runtime in memory", "memory", 1.3),
    row("the same on SQLite, one execution at once", "sqlite", 1.3),
    row("the same on SQLite, 50 executions at once", "sqlite-50", 1.3),
    {
      work: "1,000 steps at the end of 10,000 in one visit, on SQLite",
      figure: { of: "many", key: "last" },
      unit: "ms",
      reference: { name: "the second 1,000", figure: { of: "many", key: "second" } },
      target: { of: "ratio", atMost: 1.5 },
    },
  ],
};
