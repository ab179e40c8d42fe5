import { parentKey } from "../snapshot/child-key.ts";
import type { ActivePath, ChildState, ResultRef, Resumed, Snapshot, Undo } from "../snapshot/snapshot.ts";
import type { EpochMs } from "../values/json.ts";
import { type Draft, isHeldUp } from "./draft/draft.ts";
import type { DraftPath } from "./draft/draft-path.ts";
import { earliestRetry } from "./draft/earliest-retry.ts";
import { rests } from "./draft/parking.ts";

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
