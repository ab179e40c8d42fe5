import type { CompiledWorkflow } from "../../core/definition/compiled.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { pathsOf, scopedKey } from "../../core/snapshot/address.ts";
import type { Event, StartedEvent, SuspendedEvent } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { fold } from "../../core/transition/apply.ts";
import { begin } from "../../core/transition/begin.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { deadlineIn } from "../../core/transition/draft/draft-status.ts";
import { evolve } from "../../core/transition/evolve.ts";
import type { GoingOn } from "../../core/transition/take-checkpoint.ts";
import { type EpochMs, isJsonObject } from "../../core/values/json.ts";

/** The whole history of an execution, with its id and its workflow. */
export interface History {
  readonly workflowId: string;
  readonly compiled: CompiledWorkflow;
  readonly events: readonly [StartedEvent, ...Event[]];
}

/** A version of an execution from which another one can go on. */
export interface ForkPoint {
  readonly snapshot: Snapshot;
  /** The time at which the execution left this version; null if it still has it. */
  readonly leftAt: EpochMs | null;
  /** For a restart: the step whose end ended the execution. Null for a fork, or if something else ended it, such as a cancellation. */
  readonly ended: EndedStep | null;
  /** For a restart: the time at which each child began whose deadline had passed at the end, by the key of the child. */
  readonly expired?: ReadonlyMap<string, EpochMs>;
}

/** The step whose end ended an execution. */
interface EndedStep {
  readonly scope: string;
  readonly pathId: string;
  /** The time at which its wait began, if it ended because the wait timed out; else null. */
  readonly suspendedAt: EpochMs | null;
  /** The event with which it began to wait for a detached execution, if it failed because that execution failed; else undefined. */
  readonly childSuspension: SuspendedEvent | undefined;
}

/**
 * Returns the execution as it was at a version.
 *
 * @throws StepfoldError `FORK_REFUSED` if there is no such version, or nothing could go on from it
 */
export function snapshotAt({ workflowId, compiled, events }: History, version: number): ForkPoint {
  const [started, ...others] = events;
  const last = events.length - 1;
  if (!Number.isSafeInteger(version) || version < 0 || version > last)
    throw refused(workflowId, version, `the execution has the versions 0 to ${last}`);
  const snapshot = fold(compiled, [started, ...others.slice(0, version)]);
  if (snapshot.ending || snapshot.closing || snapshot.activePaths.length === 0)
    throw refused(workflowId, version, "it was ending then; choose an earlier version");
  return { snapshot, leftAt: events[version + 1]?.at ?? null, ended: null };
}

/**
 * Returns the last version at which a path had come to a node, and the node was still to be performed. Only paths of the execution itself
 * count, not those of sub-workflows and items of maps.
 *
 * @throws StepfoldError `FORK_REFUSED` if no path ever came there before the end was decided, `NODE_UNKNOWN`
 */
export function versionAtNode(history: History, node: string): number {
  const { workflowId, compiled } = history;
  if (!compiled.nodes.has(node)) throw new StepfoldError("NODE_UNKNOWN", { nodeId: node, workflow: compiled.definition.id });
  let found: number | null = null;
  replay(history, (draft, { version }) => {
    const hasCome = draft.paths.some(
      ({ nodeId, since, status }) => nodeId === node && status === "ready" && (since === version || version === 0),
    );
    if (hasCome && !draft.ending && !draft.closing) found = version;
  });
  if (found === null) throw refused(workflowId, null, `it has never come to the node "${node}"`);
  return found;
}

/**
 * Returns the execution as it was just before its end was decided: before it failed, was cancelled, began to undo its steps, or began its
 * `finally` nodes. The caller has checked that it has not completed.
 *
 * @throws StepfoldError `FORK_REFUSED` if it has not ended, or if nothing could go on from that version
 */
export function versionBeforeEnd(history: History): ForkPoint {
  const { workflowId } = history;
  const suspended = new Map<string, SuspendedEvent>();
  let end: Event | null = null;
  replay(history, (draft, event) => {
    if (event.type === "suspended") suspended.set(scopedKey(event.scope ?? "", event.pathId), event);
    if (draft.ended !== null || draft.ending || draft.closing) end ??= event;
  });
  const ending = end as Event | null;
  if (!ending || ending.version === 0) throw refused(workflowId, null, "it has not ended; fork it, or cancel it first");
  const point = snapshotAt(history, ending.version - 1);
  const found = { ...point, expired: expiredChildren(history, point.snapshot, ending.at) };
  const hasPath = ending.type === "failed" || ending.type === "timedOut";
  if (!hasPath) return found;
  const { scope = "", pathId } = ending;
  const suspension = suspended.get(scopedKey(scope, pathId));
  const suspendedAt = ending.type === "timedOut" ? (suspension?.at ?? null) : null;
  const childSuspension = ending.type === "failed" && hasFailedChild(found.snapshot, scope, pathId) ? suspension : undefined;
  return { ...found, ended: { scope, pathId, suspendedAt, childSuspension } };
}

/** Returns the children whose deadlines have passed at a time, each with the time at which it began. */
function expiredChildren(history: History, { childStates = {} }: Snapshot, at: EpochMs): ReadonlyMap<string, EpochMs> {
  const keys = Object.keys(childStates).filter((key) => deadlineIn(childStates[key]!) <= at);
  const begunAt = new Map<string, EpochMs>();
  if (keys.length === 0) return begunAt;
  replay(history, ({ children }, event) => {
    for (const key of keys) if (!begunAt.has(key) && children.has(key)) begunAt.set(key, event.at);
  });
  return begunAt;
}

/** Whether a path goes on because a detached execution that it waited for has failed or was cancelled. */
function hasFailedChild(snapshot: Snapshot, scope: string, pathId: string): boolean {
  const resumed = pathsOf(snapshot, scope).find(({ id }) => id === pathId)?.resumed;
  return resumed?.by === "child" && isJsonObject(resumed.payload) && resumed.payload.status !== "completed";
}

/** Returns how an execution goes on from a fork point at the time `now`: its waits and retries move by the time that has passed. */
export function goingOnAt(
  { leftAt, ended, expired: begunAt }: ForkPoint,
  now: EpochMs,
  more: Pick<GoingOn, "reason" | "dropsCompensations" | "adopts">,
): GoingOn {
  const laterMs = leftAt === null ? 0 : Math.max(0, now - leftAt);
  const anew = ended && {
    scope: ended.scope,
    pathId: ended.pathId,
    laterMs: ended.suspendedAt === null ? laterMs : now - ended.suspendedAt,
    waitsAgain: ended.childSuspension,
  };
  const expired = begunAt && new Map([...begunAt].map(([key, at]) => [key, now - at]));
  return { ...more, laterMs, anew, ...(expired && { expired }) };
}

/** Applies every event of a history, one after the other. @param see called with the execution after each event */
function replay({ compiled, events: [started, ...others] }: History, see: (draft: Draft, event: Event) => void): void {
  const draft = begin(compiled, started);
  see(draft, started);
  for (const event of others) {
    evolve(draft, event);
    see(draft, event);
  }
}

/** Makes a `FORK_REFUSED` error. @param version null if no version was named */
export function refused(workflowId: string, version: number | null, reason: string): StepfoldError {
  return new StepfoldError("FORK_REFUSED", { workflowId, ...(version !== null && { version }), reason });
}
