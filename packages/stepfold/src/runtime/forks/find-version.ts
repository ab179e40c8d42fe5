import type { CompiledWorkflow } from "../../core/definition/compiled.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { belongsTo, parentKey, pathsOf, scopedKey } from "../../core/snapshot/address.ts";
import type { ContinuedEvent, Event, StartedEvent, SuspendedEvent } from "../../core/snapshot/event.ts";
import type { ActivePath, ChildState, Snapshot, SnapshotHead, Status } from "../../core/snapshot/snapshot.ts";
import { closeDraft } from "../../core/transition/draft/close-draft.ts";
import { next } from "../../core/transition/apply.ts";
import { begin, beginWithRun } from "../../core/transition/begin.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { deadlineIn } from "../../core/transition/draft/draft-status.ts";
import type { GoingOn } from "../../core/transition/take-checkpoint.ts";
import { type EpochMs, isJsonObject } from "../../core/values/json.ts";

/** The whole history of an execution, with its id and its workflow. */
export interface History {
  readonly workflowId: string;
  readonly compiled: CompiledWorkflow;
  readonly head: SnapshotHead;
  /** The events of its present run. */
  readonly events: readonly [StartedEvent | ContinuedEvent, ...Event[]];
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

/** How the end of an execution was decided. */
interface End {
  readonly event: Event;
  readonly inFinally: boolean;
  readonly halted: Snapshot | null;
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
export function snapshotAt(history: History, version: number, inFinally = false): ForkPoint {
  const { workflowId, compiled, events } = history;
  const first = firstVersion(history);
  const last = first + events.length - 1;
  if (!Number.isSafeInteger(version) || version < first || version > last)
    throw refused(workflowId, version, `its present run has the versions ${first} to ${last}`);
  let draft = begun(history);
  for (const event of events.slice(1, version - first + 1)) draft = next(draft, event, compiled);
  const snapshot = closeDraft(draft);
  if (snapshot.ending || (snapshot.closing && !inFinally) || snapshot.activePaths.length === 0)
    throw refused(workflowId, version, "it was ending then; choose an earlier version");
  return { snapshot, leftAt: events[version - first + 1]?.at ?? null, ended: null };
}

/** The version of the first event of a history. */
export function firstVersion({ events: [first] }: History): number {
  return first.version;
}

function begun({ compiled, head, events: [first] }: History): Draft {
  return first.type === "started" ? begin(compiled, first) : beginWithRun(compiled, head, first);
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
      ({ nodeId, since, status }) => nodeId === node && status === "ready" && (since === version || version === firstVersion(history)),
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
  let failed: FailedPath[] = [];
  // the state in which the end was decided: before the event, or, if the event is the success of a step, after it
  let end: End | null = null;
  let halted: Snapshot | null = null;
  let closing: Draft["closing"];
  const decided = ({ ended, ending, closing }: Draft): boolean => ended !== null || ending !== undefined || closing !== undefined;
  replay(
    history,
    (draft, event) => {
      if (event.type === "restarted" || event.type === "continued") {
        end = null;
        failed = [];
      }
      if (event.type === "suspended") suspended.set(scopedKey(event.scope ?? "", event.pathId), event);
      if (!decided(draft)) return;
      // an execution that would have completed has failed in its `finally` nodes
      const inFinally = closing?.status === "completed" && draft.closing === undefined && draft.error !== undefined;
      if (!end || inFinally) end = { event, inFinally, halted: event.type === "completed" ? halted : null };
    },
    (draft) => {
      halted = null;
      closing = draft.closing;
      draft.onHalt = (scope, path) => {
        // what fails in the `finally` nodes does not decide how the execution ends
        if (path && draft.closing) return;
        if (path) failed.push({ scope: scope.key, pathId: path.id, version: scope.root.version + 1 });
        else if (!draft.ending && !draft.ended) halted ??= closeDraft(draft);
      };
    },
  );
  const found0 = end as End | null;
  const ending = found0?.event ?? null;
  if (!found0 || !ending || ending.version === firstVersion(history)) throw refused(workflowId, null, "it has not ended; fork it, or cancel it first");
  const point: ForkPoint = found0.halted
    ? { snapshot: reopened(found0.halted, history, failed), leftAt: ending.at, ended: null }
    : withFailed(snapshotAt(history, ending.version - 1, found0.inFinally), history, found0.inFinally ? [] : failed);
  const found = { ...point, expired: expiredChildren(history, point.snapshot, ending.at) };
  const hasPath = ending.type === "failed" || ending.type === "timedOut";
  if (!hasPath) return found;
  const { scope = "", pathId } = ending;
  const suspension = suspended.get(scopedKey(scope, pathId));
  const suspendedAt = ending.type === "timedOut" ? (suspension?.at ?? null) : null;
  const childSuspension = ending.type === "failed" && hasFailedChild(found.snapshot, scope, pathId) ? suspension : undefined;
  return { ...found, ended: { scope, pathId, suspendedAt, childSuspension } };
}

/** A path that has failed while the others of its scope went on (`onFailure: "finish"`), and the version of that event. */
interface FailedPath {
  readonly scope: string;
  readonly pathId: string;
  readonly version: number;
}

function withFailed(point: ForkPoint, history: History, failed: readonly FailedPath[]): ForkPoint {
  return failed.length === 0 ? point : { ...point, snapshot: reopened(point.snapshot, history, failed) };
}

/** Opens paths again that have failed, each with its children as they were before. */
function reopened(snapshot: Snapshot, history: History, failed: readonly FailedPath[]): Snapshot {
  const before = snapshotsBefore(history, new Set(failed.map(({ version }) => version)));
  const paths = new Map<string, readonly ActivePath[]>([["", snapshot.activePaths]]);
  const { error: _, childStates = {}, mapItems: items, ...rest } = snapshot;
  const children = new Map(Object.entries(childStates));
  const mapItems = { ...items };
  const woken = new Set<string>();
  for (const { scope, pathId, version } of failed) {
    const was = before.get(version)!;
    const path = pathsOf(was, scope).find(({ id }) => id === pathId);
    const around = scope === "" ? snapshot.activePaths : children.get(scope)?.activePaths;
    if (!path || !around || around.some(({ id }) => id === pathId)) continue;
    const event = history.events[version - firstVersion(history)]!;
    const failedIn = "scope" in event && event.scope !== undefined ? event.scope : "";
    const group = path.children && scopedKey(scope, path.children.key);
    if (group === undefined) setPaths(paths, children, scope, [...around, performedAnew(path)]);
    else {
      setPaths(paths, children, scope, [...around, path]);
      for (const [key, child] of Object.entries(was.childStates ?? {})) if (belongsTo(key, group)) children.set(key, child);
      for (const [key, list] of Object.entries(was.mapItems ?? {})) if (belongsTo(key, group) || key === group) mapItems[key] = list;
      const child = children.get(failedIn);
      if (child && "pathId" in event)
        children.set(failedIn, {
          ...child,
          activePaths: child.activePaths.map((one) => (one.id === event.pathId ? performedAnew(one) : one)),
        });
      for (let key = failedIn; key !== scope && key !== ""; key = parentKey(key)) woken.add(key);
    }
    for (let key = scope; key !== ""; key = parentKey(key)) woken.add(key);
  }
  for (const key of woken) {
    const { error: __, ...child } = children.get(key)!;
    children.set(key, { ...child, status: "active", currentNodeId: child.activePaths[0]!.nodeId });
  }
  const activePaths = paths.get("")!;
  return {
    ...rest,
    status: woken.size > 0 ? "active" : statusBy(activePaths),
    currentNodeId: activePaths[0]?.nodeId ?? null,
    activePaths,
    ...(children.size > 0 && { childStates: Object.fromEntries(children) }),
    ...(Object.keys(mapItems).length > 0 && { mapItems }),
  };
}

function setPaths(
  own: Map<string, readonly ActivePath[]>,
  children: Map<string, ChildState>,
  scope: string,
  activePaths: readonly ActivePath[],
): void {
  if (scope === "") own.set("", activePaths);
  else children.set(scope, { ...children.get(scope)!, activePaths });
}

/** Returns the execution before each of these events, by their versions. */
function snapshotsBefore(history: History, versions: ReadonlySet<number>): ReadonlyMap<number, Snapshot> {
  const found = new Map<number, Snapshot>();
  if (versions.size > 0)
    replay(history, (draft, { version }) => void (versions.has(version + 1) && found.set(version + 1, closeDraft(draft))));
  return found;
}

function statusBy(paths: readonly ActivePath[]): Status {
  if (paths.some(({ status }) => status === "ready")) return "active";
  return paths.some(({ status }) => status === "retrying") ? "error" : "paused";
}

function performedAnew({ waits: _, nextRetryAt: __, resumed: ___, ...path }: ActivePath): ActivePath {
  return { ...path, status: "ready", turn: path.turn + 1, attempts: 0 };
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
function replay(
  history: History,
  see: (draft: Draft, event: Event) => void,
  prepare: (draft: Draft) => void = () => undefined,
): void {
  const { compiled, events } = history;
  const [started, ...others] = events;
  let draft = begun(history);
  see(draft, started);
  for (const event of others) {
    prepare(draft);
    draft = next(draft, event, compiled);
    see(draft, event);
  }
}

/** Makes a `FORK_REFUSED` error. @param version null if no version was named */
export function refused(workflowId: string, version: number | null, reason: string): StepfoldError {
  return new StepfoldError("FORK_REFUSED", { workflowId, ...(version !== null && { version }), reason });
}
