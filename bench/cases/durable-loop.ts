import { readFileSync } from "node:fs";
import { type Snapshot, WorkflowEngine } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { countedStatements } from "../counted.ts";
import { withDatabase } from "../database.ts";
import type { Group } from "../group.ts";
import { circle, circling } from "../line.ts";
import { type Sample, spread } from "../measure.ts";

const times = 5_000;
const window = 1_000;
const short = 500;
const output = { text: "x".repeat(89) }; // 100 bytes of JSON
const million = 1e6;

/** How often and how the loop runs. */
interface Durable {
  /** The number of steps of each execution. */
  readonly times: number;
  /** The number of executions, which run one after the other. */
  readonly executions: number;
  /** Whether `run.result()` is called at the start. Default: only after the last step. */
  readonly awaited?: boolean;
  /** Called at the end of each execution with the times at which its steps began, in milliseconds of `performance.now()`. */
  readonly onEnd?: (at: Float64Array) => void;
}

/** Runs the loop on a new SQLite file, each step committed with synchronous=FULL. */
async function durable({ times, executions, awaited = false, onEnd }: Durable): Promise<void> {
  const at = new Float64Array(times);
  let lastStep = Promise.withResolvers<void>();
  const nodeDefinitions = circling(times, output, (step) => {
    at[step] = performance.now();
    if (step === times - 1) lastStep.resolve();
  });
  await withDatabase(async (path) => {
    const store = sqliteStore(path);
    const runtime = createRuntime({ store, workflows: [circle], nodeDefinitions });
    for (let i = 0; i < executions; i++) {
      lastStep = Promise.withResolvers();
      const run = await runtime.start("circle");
      if (!awaited) await lastStep.promise;
      await run.result();
      onEnd?.(at);
    }
    await runtime.close();
    await store.close();
  });
}

/**
 * Measures how long a step takes, from the eleventh step on and at the end. The first execution only warms up, and its times are
 * overwritten.
 */
async function pace(): Promise<Sample> {
  let early: number[] = [];
  let late: number[] = [];
  const took = (at: Float64Array, from: number): number[] =>
    Array.from(at.subarray(from, from + window - 1), (began, index) => (at[from + index + 1]! - began) * 1000);
  const onEnd = (at: Float64Array): void => {
    early = took(at, 10);
    late = took(at, times - window);
  };
  await durable({ times, executions: 2, onEnd });
  return { early: spread(early).median, late: spread(late).median };
}

/** Measures how long a step takes, with or without a call of `run.result()` that waits all the time. */
async function waiting(awaited: boolean): Promise<Sample> {
  let took = 0;
  const onEnd = (at: Float64Array): void => {
    took = at.at(-1)! - at[0]!;
  };
  await durable({ times: short, executions: 2, awaited, onEnd });
  return { perStep: (took / (short - 1)) * 1000 };
}

/** Measures the megabytes that the loop binds to statements of SQLite, and those that SQLite writes to files. */
async function bytes(): Promise<Sample> {
  const bound = countedStatements();
  const before = writtenBytes();
  await durable({ times, executions: 1 });
  return { bound: bound() / million, written: (writtenBytes() - before) / million };
}

/** Returns the bytes that this process has written through system calls so far, or NaN on systems other than Linux. */
function writtenBytes(): number {
  try {
    return Number(/^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))![1]);
  } catch {
    return Number.NaN;
  }
}

/**
 * Computes the bytes that a store would write if each step saved the whole snapshot. The size grows evenly, so every 50th snapshot is
 * enough.
 */
async function wholeSnapshots(): Promise<Sample> {
  const engine = new WorkflowEngine({ workflow: circle, nodeDefinitions: circling(times, output, () => undefined) });
  const snapshot: Snapshot = await engine.execute({});
  const results = snapshot.context.work!;
  if (results.length !== times) throw new TypeError(`The loop ended after ${results.length} steps`);
  const every = 50;
  let whole = 0;
  for (let step = every / 2; step < times; step += every) {
    const partial = { ...snapshot, context: { work: results.slice(0, step) } };
    whole += Buffer.byteLength(JSON.stringify(partial)) * every;
  }
  return { whole: whole / million };
}

const reference = { name: "writing the whole snapshot each time", figure: { of: "whole-snapshots", key: "whole" } };

export const durableLoop: Group = {
  cases: {
    bytes: { once: true, sample: bytes },
    "whole-snapshots": { once: true, sample: wholeSnapshots },
    pace: { sample: pace },
    awaited: { sample: () => waiting(true) },
    unawaited: { sample: () => waiting(false) },
  },
  rows: [
    {
      work: "5,000 steps on SQLite, 100-byte outputs: bound parameters",
      figure: { of: "bytes", key: "bound" },
      unit: "MB",
      reference,
      target: { of: "figure", atMost: 5 },
    },
    {
      work: "the same: handed to the system",
      figure: { of: "bytes", key: "written" },
      unit: "MB",
      reference,
      target: { of: "figure", atMost: 60 },
    },
    {
      work: "the same: one of the last 1,000 steps",
      figure: { of: "pace", key: "late" },
      unit: "µs/step",
      reference: { name: "one of 1,000 steps from the tenth on", figure: { of: "pace", key: "early" } },
      target: { of: "ratio", atMost: 1.1 },
    },
    {
      work: "500 steps on SQLite while run.result() waits",
      figure: { of: "awaited", key: "perStep" },
      unit: "µs/step",
      reference: { name: "the same with nobody waiting", figure: { of: "unawaited", key: "perStep" } },
    },
  ],
};
