import { WorkflowEngine } from "stepfold";
import type { Group } from "../group.ts";
import { line, lineIds, oneKilobyte, trivial } from "../line.ts";
import { perSecond, type Sample } from "../measure.ts";
import { peer } from "../peer.ts";

type Executor = () => Promise<{ data: object }>;

/** Runs a workflow of `length` nodes in a line again and again, each time from start to end. */
export async function inMemory(length: number, executor: Executor): Promise<Sample> {
  const engine = new WorkflowEngine({ workflow: line(length), nodeDefinitions: { work: { executor } } });
  const { status, steps } = await engine.execute({});
  if (status !== "completed" || steps !== length) throw new TypeError(`The line ended as ${status} after ${steps} steps`);
  const stepsPerSecond = await perSecond(length, () => engine.execute({}));
  return { stepsPerSecond, nsPerStep: 1e9 / stepsPerSecond };
}

interface ClassicSnapshot {
  readonly workflowId: string;
  readonly status: "active" | "completed";
  readonly currentNodeId: string | null;
  readonly context: Readonly<Record<string, readonly { readonly output: object; readonly timestamp: number }[]>>;
  readonly version: number;
  readonly metadata: object;
  readonly lastStartedAt: number;
  readonly totalExecutionTime: number;
}

/** The least work of any engine with snapshots: for each node it awaits the executor and copies a small snapshot. */
async function bareLoop(ids: readonly string[], executor: Executor): Promise<ClassicSnapshot> {
  let snapshot: ClassicSnapshot = {
    workflowId: "line",
    status: "active",
    currentNodeId: ids[0]!,
    context: {},
    version: 0,
    metadata: {},
    lastStartedAt: 0,
    totalExecutionTime: 0,
  };
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]!;
    const startedAt = Date.now();
    const { data } = await executor();
    const timestamp = Date.now();
    const { context, version, totalExecutionTime } = snapshot;
    snapshot = {
      ...snapshot,
      status: i + 1 < ids.length ? "active" : "completed",
      currentNodeId: ids[i + 1] ?? null,
      context: { ...context, [id]: [...(context[id] ?? []), { output: data, timestamp }] },
      version: version + 1,
      lastStartedAt: startedAt,
      totalExecutionTime: totalExecutionTime + timestamp - startedAt,
    };
  }
  return snapshot;
}

async function loopOf10(executor: Executor): Promise<Sample> {
  const ids = lineIds(10);
  const stepsPerSecond = await perSecond(10, () => bareLoop(ids, executor));
  return { stepsPerSecond };
}

interface XState {
  createMachine(config: object): object;
  initialTransition(machine: object): [{ readonly status: string }, object[]];
  transition(machine: object, state: object, event: object): [{ readonly status: string }, object[]];
}

/** Measures XState's pure functions, with one transition for each step. */
async function xstate(): Promise<Sample> {
  const { createMachine, initialTransition, transition } = await peer<XState>("xstate");
  const ids = lineIds(10);
  const states = ids.map((id, index) => [id, { on: { DONE: ids[index + 1] ?? "end" } }]);
  const machine = createMachine({ id: "line", initial: ids[0], states: { ...Object.fromEntries(states), end: { type: "final" } } });
  const stepsPerSecond = await perSecond(10, async () => {
    let [state] = initialTransition(machine);
    while (state.status === "active") {
      const { data } = await trivial();
      [state] = transition(machine, state, { type: "DONE", data });
    }
  });
  return { stepsPerSecond };
}

const key = "stepsPerSecond";

export const memory: Group = {
  cases: {
    "stepfold-10": { sample: () => inMemory(10, trivial) },
    "loop-10": { sample: () => loopOf10(trivial) },
    "xstate-10": { sample: xstate },
    "stepfold-10-1kb": { sample: () => inMemory(10, oneKilobyte) },
    "loop-10-1kb": { sample: () => loopOf10(oneKilobyte) },
  },
  rows: [
    {
      work: "10 trivial steps in memory",
      figure: { of: "stepfold-10", key },
      unit: "steps/s",
      reference: { name: "bare loop that copies a snapshot", figure: { of: "loop-10", key } },
      target: { of: "ratio", atLeast: 0.25 },
    },
    {
      work: "10 trivial steps in memory",
      figure: { of: "stepfold-10", key },
      unit: "steps/s",
      reference: { name: "XState, pure transitions", figure: { of: "xstate-10", key } },
      target: { of: "ratio", atLeast: 10 },
    },
    {
      work: "the same with 1 KB outputs",
      figure: { of: "stepfold-10-1kb", key },
      unit: "steps/s",
      reference: { name: "the same loop with 1 KB outputs", figure: { of: "loop-10-1kb", key } },
    },
  ],
};
