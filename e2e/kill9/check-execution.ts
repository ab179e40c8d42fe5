import { isDeepStrictEqual } from "node:util";
import {
  apply,
  type ChildHead,
  type CompiledWorkflow,
  type Event,
  fold,
  isTerminal,
  restore,
  type Snapshot,
  type SnapshotHead,
  type StartedEvent,
} from "stepfold/core";
import { restartedWhenFailed } from "./load.ts";
import type { StoredExecution } from "./stored.ts";

/** The problems that a check found: work that is lost, work that counts twice, and anything else. */
export interface Problems {
  readonly lost: string[];
  readonly doubled: string[];
  readonly wrong: string[];
}

/** Checks one execution by its own rows. */
export function checkExecution(execution: StoredExecution, workflow: CompiledWorkflow, problems: Problems): void {
  const { workflowId, rows, version } = execution;
  const wrong = (what: string): unknown => problems.wrong.push(`${workflowId}: ${what}`);
  if (!checkVersions(execution, problems)) return;
  const events = rows.map(({ event }) => event);
  checkTimes(events, wrong);
  checkWaits(events, (what) => problems.doubled.push(`${workflowId}: ${what}`));
  const replayed = replay(workflow, events, wrong);
  if (!replayed) return;
  if (!isTerminal(replayed.status)) wrong(`has not ended: ${replayed.status} at version ${version}`);
  // no other workflow of the load can fail permanently
  if (replayed.status === "failed" && !restartedWhenFailed.includes(execution.definition.id))
    wrong(`has failed: ${replayed.error?.message}`);
  if (execution.owner !== null) wrong(`has ended, and is still held by ${execution.owner}`);
  // compared as JSON, because values from the store have no members that are undefined
  const stored = asJson(restored(execution));
  const expected = asJson(replayed);
  if (!isDeepStrictEqual(stored, expected)) wrong(`the stored head is not what its rows add up to: ${differences(stored, expected)}`);
}

/** Checks that the versions run from 0 to the head's version, each once. Returns false if they do not. */
function checkVersions({ workflowId, rows, version }: StoredExecution, { lost, doubled, wrong }: Problems): boolean {
  const seen = new Set<number>();
  for (const row of rows) {
    if (row.event.version !== row.version) wrong.push(`${workflowId}: row ${row.version} holds the event of version ${row.event.version}`);
    if (seen.has(row.version)) doubled.push(`${workflowId}: version ${row.version} was committed twice`);
    seen.add(row.version);
  }
  const missing = Array.from({ length: version + 1 }, (_, i) => i).filter((i) => !seen.has(i));
  for (const one of missing) lost.push(`${workflowId}: version ${one} of ${version} is missing`);
  for (const one of seen) if (one > version) wrong.push(`${workflowId}: version ${one} follows the head, which is at ${version}`);
  return missing.length === 0 && seen.size === rows.length && seen.size === version + 1;
}

/** Checks that no timer fires before its due time, and no attempt begins before the time of its retry. */
function checkTimes(events: readonly Event[], wrong: (what: string) => unknown): void {
  const timers = new Map<string, number>();
  const retries = new Map<string, number>();
  for (const event of events) {
    for (const { id, resumeAt } of waitsOf(event)) if (resumeAt !== undefined) timers.set(id, resumeAt);
    if (event.type === "restarted") retries.clear();
    if (event.type === "resumed" && event.by === "timer") {
      const due = timers.get(event.waitId);
      if (due === undefined || event.at < due) wrong(`timer ${event.waitId} was due at ${due} and fired at ${event.at}`);
    }
    if (event.type !== "completed" && event.type !== "failed") continue;
    const path = `${event.scope ?? ""}>${event.pathId}>${event.nodeId}`;
    const due = retries.get(path);
    if (event.attempt > 1 && due !== undefined && event.startedAt < due)
      wrong(`attempt ${event.attempt} of ${event.nodeId} was due at ${due} and began at ${event.startedAt}`);
    retries.delete(path);
    if (event.type === "failed" && event.retryAt !== null) retries.set(path, event.retryAt);
  }
}

/** Returns the waits that an event opens: those of a step, or those that a restart opens again. */
export function waitsOf(event: Event): readonly { readonly id: string; readonly resumeAt?: number }[] {
  if (event.type === "suspended") return event.waits;
  return event.type === "restarted" ? event.state.activePaths.flatMap(({ waits = [] }) => waits) : [];
}

/** Checks that no wait is answered twice, and no idempotency key of an answer is used twice. */
function checkWaits(events: readonly Event[], doubled: (what: string) => unknown): void {
  const answered = new Set<string>();
  for (const event of events) {
    if (event.type === "restarted") for (const { id } of waitsOf(event)) answered.delete(`wait ${id}`);
    if (event.type !== "resumed") continue;
    for (const name of [`wait ${event.waitId}`, ...(event.idempotencyKey ? [`key ${event.idempotencyKey}`] : [])]) {
      if (answered.has(name)) doubled(`${name} was answered twice, again at version ${event.version}`);
      answered.add(name);
    }
  }
}

/** Applies the events one by one and returns the resulting snapshot, or null if an event does not follow from those before it. */
function replay(workflow: CompiledWorkflow, events: readonly Event[], wrong: (what: string) => unknown): Snapshot | null {
  let snapshot = fold(workflow, [events[0] as StartedEvent]);
  for (const event of events.slice(1)) {
    if (isTerminal(snapshot.status) && event.type !== "restarted") {
      wrong(`version ${event.version} (${event.type}) follows the end at version ${snapshot.version}`);
      return null;
    }
    const next = apply(workflow, snapshot, event);
    if (next === snapshot) {
      wrong(`version ${event.version} (${event.type}) does not follow from version ${snapshot.version}`);
      return null;
    }
    snapshot = next;
  }
  return snapshot;
}

/** Builds the snapshot from the stored head, children and events. */
function restored({ workflowId, incarnation, definition, metadata, version, status, head, rows, children }: StoredExecution): Snapshot {
  const { at } = rows[0]!.event as StartedEvent;
  const { input } = rows.findLast(({ event }) => event.type === "started" || event.type === "continued")!.event as StartedEvent;
  const columns = { workflowId, incarnation, definition, metadata, version, status, createdAt: at, ...(input !== undefined && { input }) };
  return restore({
    head: { ...(JSON.parse(head) as SnapshotHead), ...columns } as SnapshotHead,
    // the row with the empty key is a checkpoint, which holds nothing that the history does not
    children: children.flatMap(([key, child]) => (key === "" ? [] : [[key, JSON.parse(child) as ChildHead] as const])),
    events: rows.map(({ event }) => event),
  });
}

function asJson(snapshot: Snapshot): Record<string, unknown> {
  return JSON.parse(JSON.stringify(snapshot)) as Record<string, unknown>;
}

function differences(stored: Record<string, unknown>, expected: Record<string, unknown>): string {
  return [...new Set([...Object.keys(stored), ...Object.keys(expected)])]
    .filter((key) => !isDeepStrictEqual(stored[key], expected[key]))
    .map((key) => `${key} is ${JSON.stringify(stored[key])}, not ${JSON.stringify(expected[key])}`)
    .join("; ");
}
