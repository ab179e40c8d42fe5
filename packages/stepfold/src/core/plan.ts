import type { EpochMs } from "./json.ts";
import type { ActivePath, Resumed, Snapshot } from "./snapshot.ts";

/** One node on one path that could be performed now. */
export interface Task {
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
  readonly stepPath: readonly string[];
}

/** What `plan` reads of a path; drafts have it too. */
type PlannedPath = Pick<ActivePath, "id" | "turn" | "visit" | "nodeId" | "attempts" | "since" | "status" | "stepPath"> & {
  readonly nextRetryAt?: EpochMs | undefined;
  readonly resumed?: Resumed | undefined;
};

/**
 * The tasks that are due, in order of the paths: those that are ready, and retries whose time has come.
 *
 * ```ts
 * plan(snapshot, Date.now()).map((task) => task.nodeId); // ["charge"]
 * ```
 */
export function plan(snapshot: Pick<Snapshot, "activePaths">, now: EpochMs): Task[] {
  return planPaths(snapshot.activePaths, now);
}

/** `plan` for paths that are still in a draft; the retry named `early` (`pathId@turn`) is made before its time. */
export function planPaths(paths: readonly PlannedPath[], now: EpochMs, early: string | null = null): Task[] {
  const tasks: Task[] = [];
  for (const path of paths) {
    if (path.status === "ready" || (path.status === "retrying" && ((path.nextRetryAt ?? 0) <= now || early === `${path.id}@${path.turn}`)))
      tasks.push(taskOf(path));
  }
  return tasks;
}

/** The retry that comes first, by path; null if none is pending. */
export function earliestRetry<P extends Pick<PlannedPath, "status" | "nextRetryAt">>(paths: readonly P[]): P | null {
  let first: P | null = null;
  for (const path of paths) {
    if (path.status === "retrying" && (first === null || (path.nextRetryAt ?? 0) < (first.nextRetryAt ?? 0))) first = path;
  }
  return first;
}

function taskOf({ id, turn, visit, nodeId, attempts, since, resumed, stepPath }: PlannedPath): Task {
  return { pathId: id, turn, visit, nodeId, attempt: attempts + 1, since, resumed, stepPath };
}
