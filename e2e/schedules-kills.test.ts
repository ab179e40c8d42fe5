import { describe, expect, it } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { bench } from "./kill9/bench.ts";
import { judgeTicks } from "./schedules/judge-ticks.ts";
import { reportTicks, tickStorm } from "./schedules/tick-storm.ts";

const { store, ...storm } = effort.tickStorm;
const seed = Number(process.env.STEPFOLD_KILL_SEED ?? 20_260);

describe(`${storm.schedules} schedules on ${store}, whose ${storm.processes} processes are killed`, () => {
  it("start each tick once: no tick is lost, and none comes twice", { timeout: 1_800_000 }, async ({ skip }) => {
    const { folder, target } = await bench(store, skip);
    const result = await tickStorm(target, folder, seed, storm);
    console.log(reportTicks(result));
    const { lost, doubled, problems, starts, kills } = result;
    expect({ lost, doubled, problems }).toEqual({ lost: [], doubled: [], problems: [] });
    expect(starts).toBe(storm.schedules * storm.ticks);
    expect(kills).toBeGreaterThan(3);
    for (const tampered of tamperedWith(result.judged)) {
      const found = judgeTicks(...tampered);
      expect([...found.lost, ...found.doubled]).not.toEqual([]);
    }
  });
});

/**
 * Yields a good run, tampered with in a different way each time. The checker has to find every fault, because a checker that finds
 * nothing proves nothing.
 */
function* tamperedWith([made, everyMs, ticks, stored, lines]: Parameters<typeof judgeTicks>): Generator<Parameters<typeof judgeTicks>> {
  const { executions } = stored;
  const of = executions.findIndex(({ workflowId }) => workflowId.includes("@"));
  const one = executions[of]!;
  const [name, time] = one.workflowId.split("@") as [string, string];
  const other = (more: object) => ({ ...stored, executions: executions.with(of, { ...one, ...more }) });
  const moved = new Date(Date.parse(time) + everyMs * ticks).toISOString();
  yield [made, everyMs, ticks, { ...stored, executions: executions.toSpliced(of, 1) }, lines];
  yield [made, everyMs, ticks, { ...stored, executions: [...executions, { ...one, workflowId: `${name}@${moved}` }] }, lines];
  yield [made, everyMs, ticks, other({ status: "failed" }), lines];
  yield [made, everyMs, ticks, other({ rows: one.rows.filter(({ event }) => event.type !== "completed") }), lines];
  yield [made, everyMs, ticks, other({ rows: [...one.rows, one.rows[1]!] }), lines];
  // moved by all ticks, which is longer than making a schedule took: after a move by one tick the first tick might still be right
  const earlierMs = everyMs * ticks;
  yield [made.map((each) => ({ ...each, fromMs: each.fromMs - earlierMs, toMs: each.toMs - earlierMs })), everyMs, ticks, stored, lines];
  const call = lines.find((line) => line.what === "called")!;
  yield [made, everyMs, ticks, stored, [...lines, { ...call, key: "another" } as typeof call]];
  yield [made, everyMs, ticks, stored, lines.filter((line) => line.what !== "called" || line.workflowId !== one.workflowId)];
}
