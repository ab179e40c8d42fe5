import type { Event } from "stepfold";
import { type Problems, waitsOf } from "./check-execution.ts";
import { passingNodes } from "./load.ts";
import type { WrittenLine } from "./log.ts";
import type { StoredExecution, StoredRow } from "./stored.ts";

/** The numbers of acknowledged commits, starts, answers and so on. */
export interface Acknowledged {
  /** The versions of all acknowledged commits. */
  readonly transitions: number;
  readonly starts: number;
  readonly resumes: number;
  readonly cancels: number;
  /** Restarts of executions that have failed or were cancelled. */
  readonly restarts: number;
}

type Line<What extends WrittenLine["what"]> = Extract<WrittenLine, { readonly what: What }>;

/** Checks the stored rows against the acknowledged calls and the recorded effects. */
export function checkLog(
  executions: readonly StoredExecution[],
  lines: readonly WrittenLine[],
  problems: Problems,
  isClockRight: boolean,
): Acknowledged {
  const stored = new Map(executions.map((execution) => [execution.workflowId, execution]));
  const rowOf = (workflowId: string, version: number): StoredRow | undefined =>
    stored.get(workflowId)?.rows.find((row) => row.version === version);
  const sent = new Map(lines.flatMap((line) => (line.what === "committing" ? [[line.commitId, line] as const] : [])));
  const transitions = checkCommits(lines, sent, rowOf, problems);
  checkFences(executions, sent, problems);
  if (isClockRight) checkMoments(executions, sent, problems);
  checkEffects(executions, lines, problems);
  checkRestarts(executions, problems);
  checkPerformedAgain(executions, lines, problems);
  return { transitions, ...checkAnswers(stored, lines, problems) };
}

/** Checks that every version of every acknowledged commit is stored and belongs to that commit. Returns the number of these versions. */
function checkCommits(
  lines: readonly WrittenLine[],
  sent: ReadonlyMap<string, Line<"committing">>,
  rowOf: (workflowId: string, version: number) => StoredRow | undefined,
  { lost, doubled }: Problems,
): number {
  let transitions = 0;
  for (const line of lines) {
    if (line.what !== "committed") continue;
    const { workflowId, first, last } = sent.get(line.commitId)!;
    for (let version = first; version <= last; version++) {
      transitions++;
      const row = rowOf(workflowId, version);
      if (!row) lost.push(`${workflowId}: version ${version}, acknowledged to ${line.by}, is not there`);
      else if (row.commitId !== line.commitId)
        doubled.push(`${workflowId}: version ${version}, acknowledged to ${line.by}, is that of another commit`);
    }
  }
  return transitions;
}

/** Checks the fences: after a commit with a later claim, no commit with an earlier claim may follow. */
function checkFences(executions: readonly StoredExecution[], sent: ReadonlyMap<string, Line<"committing">>, { wrong }: Problems): void {
  for (const { workflowId, rows } of executions) {
    let latest = 0;
    for (const { version, commitId } of rows) {
      const commit = sent.get(commitId);
      if (!commit) wrong.push(`${workflowId}: version ${version} is of a commit that nobody has sent`);
      if (commit?.fence == null) continue;
      if (commit.fence < latest)
        wrong.push(`${workflowId}: version ${version} is a stale commit, by claim ${commit.fence} after ${latest}`);
      latest = commit.fence;
    }
  }
}

/** Two processes that read equal clocks may get times that differ by this much. */
const readingMs = 2;

/** Checks that no commit of a timer was sent before the timer was due by the machine's clock, whatever the clock of the process said. */
function checkMoments(executions: readonly StoredExecution[], sent: ReadonlyMap<string, Line<"committing">>, { wrong }: Problems): void {
  for (const { workflowId, rows } of executions) {
    const timers = new Map<string, number>();
    for (const { commitId, event } of rows) {
      for (const { id, resumeAt } of waitsOf(event)) if (resumeAt !== undefined) timers.set(id, resumeAt);
      if (event.type !== "resumed" || event.by !== "timer") continue;
      const [due, at] = [timers.get(event.waitId), sent.get(commitId)?.at];
      if (due !== undefined && at !== undefined && at < due - readingMs)
        wrong.push(`${workflowId}: timer ${event.waitId} was due at ${due}, and fired ${due - at} ms early by the machine's clock`);
    }
  }
}

/** Checks that every committed result belongs to a recorded call with the same key, and that no key counts twice. */
function checkEffects(executions: readonly StoredExecution[], lines: readonly WrittenLine[], { doubled, wrong }: Problems): void {
  const calls = new Map(lines.flatMap((line) => (line.what === "called" ? [[line.call, line] as const] : [])));
  for (const { workflowId, rows } of executions) {
    const counted = new Set<string>();
    for (const { version, event } of rows) {
      const effect = effectOf(event);
      if (event.type !== "completed" || !effect) continue;
      const { key, call } = effect;
      const called = calls.get(call);
      if (called?.key !== key || called.workflowId !== workflowId || called.nodeId !== event.nodeId)
        wrong.push(`${workflowId}: the result of version ${version} has no effect with the key ${key}`);
      if (counted.has(key)) doubled.push(`${workflowId}: the effect ${key} counts twice, again at version ${version}`);
      counted.add(key);
    }
  }
}

/** Returns the call whose effect a result names; null if the result does not come from a node with an effect. */
function effectOf(event: Event): { readonly key: string; readonly call: string } | null {
  if (event.type !== "completed" || passingNodes.has(event.nodeId)) return null;
  const { key, call } = (event.output ?? {}) as { readonly key?: string; readonly call?: string };
  return key === undefined || call === undefined ? null : { key, call };
}

/** Checks that each restart counts once under its key, and that runs and restarts count up in the history. */
function checkRestarts(executions: readonly StoredExecution[], { doubled, wrong }: Problems): void {
  for (const { workflowId, rows, head } of executions) {
    const keys = new Set<string>();
    let [run, restarts] = [1, 0];
    for (const { version, event } of rows) {
      if (event.type === "continued" && event.run !== ++run)
        wrong.push(`${workflowId}: version ${version} begins run ${event.run}, not ${run}`);
      if (event.type !== "restarted") continue;
      restarts++;
      const { idempotencyKey: key = "" } = event;
      if (keys.has(key)) doubled.push(`${workflowId}: ${key} counts twice, again at version ${version}`);
      keys.add(key);
    }
    const stored = JSON.parse(head) as { readonly run?: { readonly number: number }; readonly restarts?: number };
    const [storedRun, storedRestarts] = [stored.run?.number ?? 1, stored.restarts ?? 0];
    if (storedRun !== run || storedRestarts !== restarts)
      wrong.push(`${workflowId}: its head says run ${storedRun} and ${storedRestarts} restarts, not ${run} and ${restarts}`);
  }
}

/** Checks that nobody who was given an execution after the completion of a step performs this step again under its key. */
function checkPerformedAgain(executions: readonly StoredExecution[], lines: readonly WrittenLine[], { doubled }: Problems): void {
  const completedAt = new Map<string, number>();
  for (const { rows } of executions)
    for (const { version, event } of rows) {
      const effect = effectOf(event);
      if (effect) completedAt.set(effect.key, version);
    }
  const claimedAt = new Map<string, number>();
  for (const line of lines) {
    if (line.what === "claimed") claimedAt.set(`${line.by} ${line.workflowId}`, line.version);
    if (line.what !== "called") continue;
    const completed = completedAt.get(line.key) ?? Number.POSITIVE_INFINITY;
    const claimed = claimedAt.get(`${line.by} ${line.workflowId}`) ?? 0;
    if (claimed >= completed)
      doubled.push(
        `${line.workflowId}: ${line.key}, completed at version ${completed}, is performed again by ${line.by}, which claimed version ${claimed}`,
      );
  }
}

/** Checks that every acknowledged start, answer, restart and cancellation is stored. */
function checkAnswers(
  stored: ReadonlyMap<string, StoredExecution>,
  lines: readonly WrittenLine[],
  { lost, wrong }: Problems,
): Omit<Acknowledged, "transitions"> {
  const acknowledged = { starts: 0, resumes: 0, cancels: 0, restarts: 0 };
  for (const line of lines) {
    if (line.what === "started") {
      acknowledged.starts++;
      if (!stored.has(line.workflowId)) lost.push(`${line.workflowId}: its start, acknowledged to ${line.by}, is not there`);
    }
    if (line.what === "resumed") {
      acknowledged.resumes++;
      const events = stored.get(line.workflowId)?.rows.map(({ event }) => event) ?? [];
      // this also holds for an answer that had been applied before, because the client was told that its answer counts
      if (!events.some((event) => event.type === "resumed" && event.waitId === line.waitId && event.idempotencyKey === line.key))
        lost.push(`${line.workflowId}: the answer to ${line.waitId}, acknowledged to ${line.by}, is not there`);
    }
    if (line.what === "restarted") {
      acknowledged.restarts++;
      const rows = stored.get(line.workflowId)?.rows ?? [];
      if (!rows.some(({ event }) => event.type === "restarted" && event.idempotencyKey === line.key))
        lost.push(`${line.workflowId}: its ${line.key}, acknowledged to ${line.by}, is not there`);
    }
    if (line.what === "cancelled") {
      acknowledged.cancels++;
      const execution = stored.get(line.workflowId);
      if (!execution?.rows.some(({ event }) => event.type === "cancelled"))
        lost.push(`${line.workflowId}: its cancellation, acknowledged to ${line.by}, is not there`);
      else if (execution.status !== "cancelled" && !execution.rows.some(({ event }) => event.type === "restarted"))
        wrong.push(`${line.workflowId}: was cancelled, and is ${execution.status}`);
    }
  }
  checkApplied(lines, wrong);
  return acknowledged;
}

/** Checks that at most one of the clients that sent an answer or a restart with the same key was told that its call was applied. */
function checkApplied(lines: readonly WrittenLine[], wrong: string[]): void {
  const applied = new Set<string>();
  for (const line of lines) {
    if ((line.what !== "resumed" && line.what !== "restarted") || !line.applied) continue;
    const answer = `${line.workflowId} ${line.key}`;
    if (applied.has(answer)) wrong.push(`${line.workflowId}: ${line.key} was called applied twice, again to ${line.by}`);
    applied.add(answer);
  }
}
