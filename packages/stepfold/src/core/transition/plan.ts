import { parentKey } from "../snapshot/address.ts";
import type { ResumedEvent, TimedOutEvent } from "../snapshot/event.ts";
import type { ActivePath, ChildState, ResultRef, Resumed, Snapshot, Undo, Wait } from "../snapshot/snapshot.ts";
import type { EpochMs } from "../values/json.ts";
import { type Draft, isChild, isHeldUp, type ScopeDraft } from "./draft/draft.ts";
import { type DraftPath, earliestRetry } from "./draft/draft-path.ts";
import { rests } from "./draft/draft-status.ts";
import { scopeAt } from "./draft/open-draft.ts";

/** One node on one path that could be performed now. */
export interface Task {
  /** Key of the child that the path is in; absent for the execution itself. */
  readonly scope?: string;
  readonly pathId: string;
  /** `pathId@turn` names the task: an outcome of another turn is no longer wanted. */
  readonly turn: number;
  /** `pathId#visit` is the same for every attempt and resume of this visit. */
  readonly visit: number;
  readonly nodeId: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** Version at which the path arrived: what its data sees. */
  readonly since: number;
  readonly resumed?: Resumed | undefined;
  /** At a join: the results that the joined branches came with. */
  readonly inputs?: readonly ResultRef[] | undefined;
  /** The result that is to be undone: not the node is performed, but its `compensate`. */
  readonly undoes?: Undo | undefined;
  readonly stepPath: readonly string[];
}

/** What `plan` reads of a path; drafts have it too. */
type PlannedPath = Pick<ActivePath, "id" | "turn" | "visit" | "nodeId" | "attempts" | "since" | "status" | "stepPath"> & {
  readonly [K in "nextRetryAt" | "resumed" | "inputs" | "undoes"]?: ActivePath[K] | undefined;
};

/**
 * The tasks that are due, in order of the paths, those of children after: what is ready, and retries whose time has come.
 *
 * ```ts
 * plan(snapshot, Date.now()).map((task) => task.nodeId); // ["charge"]
 * ```
 */
export function plan(snapshot: Pick<Snapshot, "activePaths" | "childStates" | "parked">, now: EpochMs): Task[] {
  const tasks: Task[] = [];
  if (rests(snapshot, now)) return tasks;
  for (const path of snapshot.activePaths) if (isDue(path, now)) tasks.push(taskOf(path, ""));
  for (const [key, child] of Object.entries(snapshot.childStates ?? {})) {
    if (mayMove(snapshot, key, child)) for (const path of child.activePaths) if (isDue(path, now)) tasks.push(taskOf(path, key));
  }
  return tasks;
}

/**
 * Visits the tasks of a draft that are due, until `visit` returns false.
 *
 * @param early a retry that is made before its time: its `taskAddress`
 */
export function planDraft(draft: Draft, now: EpochMs, early: string | null, visit: (task: Task, path: DraftPath) => boolean): void {
  if (rests(draft, now)) return;
  for (const path of draft.paths) {
    if ((isDue(path, now) || (early !== null && early === taskAddress(path, ""))) && !visit(taskOf(path, ""), path)) return;
  }
  if (draft.awake.size === 0) return;
  for (const child of draft.awake) {
    if (isHeldUp(child)) continue;
    const { key, paths } = child;
    for (const path of paths) {
      if ((isDue(path, now) || (early !== null && early === taskAddress(path, key))) && !visit(taskOf(path, key), path)) return;
    }
  }
}

/** Whether anything of a draft is due. */
export function isAnyDue(draft: Draft, now: EpochMs, early: string | null): boolean {
  let any = false;
  planDraft(draft, now, early, () => {
    any = true;
    return false;
  });
  return any;
}

/** Names a task: its path, in its scope, and its turn. */
function taskAddress({ id, turn }: Pick<PlannedPath, "id" | "turn">, scope: string): string {
  return `${scope === "" ? "" : `${scope}>`}${id}@${turn}`;
}

/** The address of the retry that comes first, of all scopes; null if none is pending. */
export function earliestOf(draft: Draft): string | null {
  let first = earliestRetry(draft.paths);
  let address = first && taskAddress(first, "");
  for (const { key, paths } of draft.awake) {
    const own = earliestRetry(paths);
    if (!own || (first && (first.nextRetryAt ?? 0) <= (own.nextRetryAt ?? 0))) continue;
    first = own;
    address = taskAddress(own, key);
  }
  return address;
}

function isDue({ status, nextRetryAt }: PlannedPath, now: EpochMs): boolean {
  return status === "ready" || (status === "retrying" && (nextRetryAt ?? 0) <= now);
}

function mayMove({ childStates = {} }: Pick<Snapshot, "childStates">, key: string, { status }: ChildState): boolean {
  if (status !== "active" && status !== "error") return false;
  for (let around = key; around !== ""; around = parentKey(around)) if (childStates[around]?.queued !== undefined) return false;
  return true;
}

function taskOf({ id, turn, visit, nodeId, attempts, since, resumed, inputs, undoes, stepPath }: PlannedPath, scope: string): Task {
  const task = { pathId: id, turn, visit, nodeId, attempt: attempts + 1, since, resumed, inputs, undoes, stepPath };
  return scope === "" ? task : { scope, ...task };
}

interface Due {
  readonly scope: ScopeDraft;
  readonly path: DraftPath;
  readonly wait: Wait;
  readonly at: EpochMs;
  readonly late: boolean;
}

/** Whether any path waits for a time. If none does, the clock need not be read. */
export function hasTimer({ paths, timers }: Draft): boolean {
  return paths.some(({ waits }) => waits) || timers.first() !== null;
}

/**
 * The event of the timer that came first, if one is due; null if none is.
 *
 * Of a wait's two times the earlier wins, on a tie the timeout.
 */
export function due(draft: Draft, now: EpochMs): ResumedEvent | TimedOutEvent | null {
  if (rests(draft, now)) return null;
  let first = dueIn(draft, now, null);
  const child = draft.timers.first();
  if (child && child.at <= now) first = dueIn(scopeAt(draft, child.key)!, now, first);
  if (!first) return null;
  const { scope, path, wait, late } = first;
  const stamp = { version: draft.version + 1, at: now, ...(isChild(scope) && { scope: scope.key }), pathId: path.id, waitId: wait.id };
  return late ? timedOut(scope, path, stamp) : { type: "resumed", ...stamp, by: "timer" };
}

function dueIn(scope: ScopeDraft, now: EpochMs, before: Due | null): Due | null {
  let first = before;
  for (const path of scope.paths) {
    for (const wait of path.waits ?? []) {
      const { resumeAt = Number.POSITIVE_INFINITY, timeoutAt = Number.POSITIVE_INFINITY } = wait;
      const at = Math.min(resumeAt, timeoutAt);
      if (at <= now && (!first || at < first.at)) first = { scope, path, wait, at, late: timeoutAt <= resumeAt };
    }
  }
  return first;
}

function timedOut(
  { workflow }: ScopeDraft,
  { nodeId, attempts, undoes }: DraftPath,
  stamp: Pick<TimedOutEvent, "version" | "at" | "scope" | "pathId" | "waitId">,
): TimedOutEvent {
  const error = Object.freeze({ name: "Timeout", code: "WAIT_TIMEOUT", message: `Node "${nodeId}" was not answered in time`, nodeId });
  const event = { type: "timedOut" as const, ...stamp, nodeId, attempt: attempts + 1, error };
  if (undoes) return { ...event, undoes };
  const { edges } = workflow.nodes.get(nodeId)!;
  if (edges.has("timeout")) return { ...event, handle: "timeout" };
  return edges.has("error") ? { ...event, handle: "error" } : event;
}
