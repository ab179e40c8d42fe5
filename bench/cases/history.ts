import { defineNode } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { countedStatements } from "../counted.ts";
import { withDatabase } from "../database.ts";
import type { Group } from "../group.ts";
import { type Sample, spread } from "../measure.ts";

const histories = [100, 1_000, 10_000, 30_000] as const;
const resumes = 41;
const output = { text: "x".repeat(89) }; // 100 bytes of JSON
const million = 1e6;

/**
 * Called when the step has an answer. The workflow loops until it has as many events as its input says, and then waits for one answer
 * after the other.
 */
let onAnswer = (): void => undefined;
const nodeDefinitions = {
  work: defineNode({
    executor: (_data: unknown, step) => ({
      data: output,
      nextHandle: (step.context.work?.at(-1)?.version ?? 0) + 3 < (step.input as { events: number }).events ? "again" : "ask",
    }),
  }),
  ask: defineNode({
    executor: (_data: unknown, step) => {
      if (!step.resumed) return step.suspend({ ask: true });
      onAnswer();
      return { data: output };
    },
  }),
};

const lasting = (keep: number | undefined) => ({
  id: "lasting",
  start: "work",
  nodes: ["work", "ask"].map((id) => ({ id, type: id, ...(keep !== undefined && { keep }) })),
  edges: [
    { source: "work", target: "work", sourceHandle: "again" },
    { source: "work", target: "ask", sourceHandle: "ask" },
    { source: "ask", target: "ask" },
  ],
});

/** Measures the milliseconds from an answer until the step has it. Executions with short and long histories take turns. */
async function resume(keep: number | undefined): Promise<Sample> {
  const took = new Map<number, number[]>(histories.map((events) => [events, []]));
  await withDatabase(async (path) => {
    const store = sqliteStore(path);
    const runtime = createRuntime({ store, workflows: [lasting(keep)], nodeDefinitions });
    for (const events of histories) {
      const run = await runtime.start("lasting", { workflowId: `of ${events}`, input: { events } });
      await run.settled();
    }
    for (let round = 0; round < resumes; round++) {
      for (const events of histories) {
        const run = await runtime.get(`of ${events}`);
        const from = performance.now();
        onAnswer = () => took.get(events)!.push(performance.now() - from);
        await run.resume({ payload: round });
        await run.settled();
      }
    }
    await runtime.close();
    await store.close();
  });
  const medians = histories.map((events) => [`after${events}`, spread(took.get(events)!).median] as const);
  const [first, last] = [medians[0]![1], medians.at(-1)![1]];
  return { ...Object.fromEntries(medians), perEvent: ((last - first) * 1000) / (histories.at(-1)! - histories[0]) };
}

const steps = 500;
const besideDefinitions = {
  ask: defineNode({ executor: (_data: unknown, step) => step.suspend({ text: "x".repeat(200_000) }) }),
  work: defineNode({
    executor: (_data: unknown, step) => ({ data: output, nextHandle: (step.context.work?.length ?? 0) + 1 < steps ? "again" : null }),
  }),
};
const beside = (waiting: boolean) => ({
  id: "beside",
  start: "begin",
  nodes: [
    { id: "begin", type: "begin" },
    { id: "work", type: "work" },
    { id: "ask", type: waiting ? "ask" : "begin" },
  ],
  edges: [
    { source: "begin", target: "ask" },
    { source: "begin", target: "work" },
    { source: "work", target: "work", sourceHandle: "again" },
  ],
});

/**
 * Measures the megabytes that 500 steps bind to SQLite statements, next to a path that waits with 200 KB or next to a path that has
 * ended.
 */
async function besideWaiting(waiting: boolean): Promise<Sample> {
  const bound = countedStatements();
  await withDatabase(async (path) => {
    const store = sqliteStore(path);
    const begin = defineNode({ executor: () => ({ data: null }) });
    const runtime = createRuntime({ store, workflows: [beside(waiting)], nodeDefinitions: { ...besideDefinitions, begin } });
    const run = await runtime.start("beside");
    await run.settled();
    await runtime.close();
    await store.close();
  });
  return { bound: bound() / million };
}

const row = (keep: string, events: number) => ({
  work: `an answer after ${events.toLocaleString("en")} events, ${keep}, on SQLite, until the step has it`,
  figure: { of: keep, key: `after${events}` },
  unit: "ms" as const,
  reference: { name: "after 100 events", figure: { of: keep, key: "after100" } },
});

export const history: Group = {
  cases: {
    "keep: 1": { sample: () => resume(1) },
    "without keep": { sample: () => resume(undefined) },
    waiting: { once: true, sample: () => besideWaiting(true) },
    ended: { once: true, sample: () => besideWaiting(false) },
  },
  rows: [
    ...histories.slice(1).map((events) => ({ ...row("keep: 1", events), target: { of: "ratio" as const, atMost: 2 } })),
    ...histories.slice(1).map((events) => row("without keep", events)),
    {
      work: "what an event costs each later answer without keep",
      figure: { of: "without keep", key: "perEvent" },
      unit: "µs/event",
      reference: { name: "with keep: 1", figure: { of: "keep: 1", key: "perEvent" } },
      target: { of: "figure", atMost: 3 },
    },
    {
      work: "500 steps on SQLite beside a path that waits with 200 KB: bound parameters",
      figure: { of: "waiting", key: "bound" },
      unit: "MB",
      reference: { name: "beside one that has ended", figure: { of: "ended", key: "bound" } },
      target: { of: "figure", atMost: 1 },
    },
  ],
};
