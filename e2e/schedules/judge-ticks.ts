import type { StartedEvent } from "stepfold";
import type { WrittenLine } from "../kill9/log.ts";
import type { Stored, StoredExecution } from "../kill9/stored.ts";
import { effects } from "./work.ts";

/** A schedule, and the times before and after the call that made it, in epoch milliseconds. */
export interface Made {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The result of the checks of all ticks. */
export interface TickVerdict {
  /** Ticks for which no execution was started, or whose execution has a fault. */
  readonly lost: readonly string[];
  /** Starts without a tick, and effects that were made with two keys or that count twice. */
  readonly doubled: readonly string[];
  readonly starts: number;
  /** The number of effects that were repeated because a process died before it committed them. */
  readonly repeated: number;
  /** The time from a tick to the start of its execution, in milliseconds by the clock of the store. */
  readonly lateMs: { readonly median: number; readonly p99: number; readonly most: number };
}

/**
 * Checks rows that were read with SQL, and logs, so that the result does not depend on the code of the runtime or a store. The expected
 * ticks are computed here, from the times before and after each schedule was made.
 */
export function judgeTicks(
  made: readonly Made[],
  everyMs: number,
  ticks: number,
  stored: Stored,
  lines: readonly WrittenLine[],
): TickVerdict {
  const [lost, doubled, late]: [string[], string[], number[]] = [[], [], []];
  const startsOf = new Map<string, Map<number, StoredExecution>>(made.map(({ name }) => [name, new Map()]));
  const known = new Map(stored.executions.map((one) => [one.workflowId, one]));
  for (const execution of stored.executions) {
    const [name = "", time = ""] = execution.workflowId.split("@");
    if (time !== "") startsOf.get(name)?.set(Date.parse(time), execution);
  }
  let starts = 0;
  for (const { name, fromMs, toMs } of made) {
    const started = startsOf.get(name)!;
    const first = Math.min(...started.keys());
    const [earliest, latest] = [tickAfter(fromMs, everyMs), tickAfter(toMs, everyMs)];
    if (!(first >= earliest && first <= latest && first % everyMs === 0)) {
      lost.push(`${name} begins with ${iso(first)}, and should between ${iso(earliest)} and ${iso(latest)}`);
    }
    const wanted = Array.from({ length: ticks }, (_, i) => first + i * everyMs);
    for (const at of wanted) {
      const execution = started.get(at);
      if (!execution) lost.push(`${name} did not start ${iso(at)}`);
      else lost.push(...wrongIn(execution, name));
      if (execution) late.push((execution.rows[0]!.event as StartedEvent).at - at);
    }
    starts += started.size;
    for (const at of started.keys()) if (!wanted.includes(at)) doubled.push(`${name} started ${iso(at)}, which is no tick`);
    if (known.get(`schedule:${name}`)?.status !== "completed") lost.push(`schedule:${name} has not come to its end`);
  }
  const called = new Map<string, { readonly keys: Set<string>; calls: number }>();
  for (const line of lines) {
    if (line.what !== "called") continue;
    const effect = called.get(`${line.workflowId} ${line.nodeId}`) ?? { keys: new Set(), calls: 0 };
    effect.keys.add(line.key);
    effect.calls++;
    called.set(`${line.workflowId} ${line.nodeId}`, effect);
  }
  for (const [effect, { keys }] of called) if (keys.size > 1) doubled.push(`${effect} was made with ${keys.size} keys`);
  for (const execution of stored.executions.filter(({ workflowId }) => workflowId.includes("@")))
    for (const nodeId of effects)
      if (!called.has(`${execution.workflowId} ${nodeId}`))
        lost.push(`${nodeId} of ${execution.workflowId} is committed and was never made`);
  late.sort((a, b) => a - b);
  const at = (share: number): number => late[Math.min(late.length - 1, Math.floor(share * late.length))] ?? 0;
  const repeated = [...called.values()].reduce((sum, { calls }) => sum + calls - 1, 0);
  return { lost, doubled, starts, repeated, lateMs: { median: at(0.5), p99: at(0.99), most: at(1) } };
}

/** Returns the faults of the execution of a tick. It must have completed, with each step once and without a gap in its versions. */
function wrongIn({ workflowId, status, rows }: StoredExecution, schedule: string): string[] {
  const wrong: string[] = [];
  if (status !== "completed") wrong.push(`${workflowId} is ${status}`);
  if (rows.some(({ version }, i) => version !== i)) wrong.push(`${workflowId} has versions ${rows.map(({ version }) => version).join()}`);
  const done = rows.flatMap(({ event }) => (event.type === "completed" ? [event.nodeId] : [])).join();
  if (done !== "begin,rest,finish") wrong.push(`${workflowId} has made ${done}`);
  const { event } = rows[0]!;
  if (event.type !== "started" || event.scheduledBy?.schedule !== schedule) wrong.push(`${workflowId} is not of ${schedule}`);
  return wrong;
}

function tickAfter(at: number, everyMs: number): number {
  return (Math.floor(at / everyMs) + 1) * everyMs;
}

function iso(at: number): string {
  return Number.isFinite(at) ? new Date(at).toISOString() : "nothing";
}
