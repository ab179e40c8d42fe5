import { WorkflowEngine } from "stepfold";
import type { Group } from "../group.ts";
import { circle, circling, trivial } from "../line.ts";
import { type Sample, spread } from "../measure.ts";
import { inMemory } from "./memory.ts";

const times = 10_000;
/** The number of steps in each of the two ranges that are compared: one begins after the tenth step, the other ends with the last one. */
const window = 1_000;
const early = 10;
const late = times - window;

/** Measures how long a step of a loop of one node takes near the beginning and at the end. */
async function looped(): Promise<Sample> {
  const at = new Float64Array(times);
  const nodeDefinitions = circling(times, { ok: true }, (step) => {
    at[step] = performance.now();
  });
  const engine = new WorkflowEngine({ workflow: circle, nodeDefinitions });
  const first: number[] = [];
  const last: number[] = [];
  for (let run = 0; run < 30; run++) {
    const { steps } = await engine.execute({});
    if (steps !== times) throw new TypeError(`The loop ended after ${steps} steps`);
    if (run < 10) continue; // warm-up
    first.push(at[early + window - 1]! - at[early]!);
    last.push(at[times - 1]! - at[late]!);
  }
  const nsPerStep = (tookMs: number[]): number => (spread(tookMs).median * 1e6) / (window - 1);
  return { early: nsPerStep(first), late: nsPerStep(last) };
}

export const growth: Group = {
  cases: {
    "line-10": { sample: () => inMemory(10, trivial) },
    "line-1000": { sample: () => inMemory(1_000, trivial) },
    "circle-10000": { sample: looped },
  },
  rows: [
    {
      work: "1,000 nodes in a line, in memory",
      figure: { of: "line-1000", key: "nsPerStep" },
      unit: "ns/step",
      reference: { name: "10 nodes in a line", figure: { of: "line-10", key: "nsPerStep" } },
      target: { of: "ratio", atMost: 1.5 },
    },
    {
      work: "one node looped 10,000 times: last 1,000 steps",
      figure: { of: "circle-10000", key: "late" },
      unit: "ns/step",
      reference: { name: "1,000 steps from the tenth on", figure: { of: "circle-10000", key: "early" } },
      target: { of: "ratio", atMost: 1.1 },
    },
  ],
};
