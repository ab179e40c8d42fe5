import type { CompiledNode } from "../definition/compiled.ts";
import { parentKey } from "../snapshot/address.ts";
import type { BegunEvent, ExpiredEvent, ResumedEvent, TimedOutEvent } from "../snapshot/event.ts";
import type { ActivePath, ChildState, ResultRef, Resumed, Snapshot, Undo, Wait } from "../snapshot/snapshot.ts";
import type { EpochMs } from "../values/json.ts";
import { type Draft, isChild, isHeldUp, type ScopeDraft } from "./draft/draft.ts";
import { type DraftPath, earliestRetry } from "./draft/draft-path.ts";
import { deadlineIn, rests } from "./draft/draft-status.ts";
import { scopeAt } from "./draft/open-draft.ts";

/** One node on one path that could be performed now. */
export interface Task {
  /** Key of the child that the path is in; absent for the execution itself. */
  readonly scope?: string;
  readonly pathId: string;
  /**
   * Rises whenever anything happens to the path. `pathId@turn` names this task: an outcome that comes for another turn is too
   * late, and is dropped.
   */
  readonly turn: number;
  /** The turn at which the path came to its node. `pathId#visit` stays the same for every attempt and resume at this node. */
  readonly visit: number;
  readonly nodeId: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** Version at which the path arrived: expressions in the node's data see the results up to it. */
  readonly since: number;
  readonly resumed?: Resumed | undefined;
  /** At a join: the results that the joined branches came with. */
  readonly inputs?: readonly ResultRef[] | undefined;
  /** Its executor may have been called already, by an earlier attempt or another process. Only kept where the node has a `compensate`. */
  readonly begun?: true;
  /** The result that is to be undone. If it is set, the node's `compensate` is performed in place of the node. */
  readonly undoes?: Undo | undefined;
  /** The nodes that the path came through, at most the last 8. */
  readonly stepPath: readonly string[];
}

/** The fields of a path that `plan` reads. Paths of a snapshot and of a draft both have them. */
type PlannedPath = Pick<ActivePath, "id" | "turn" | "visit" | "nodeId" | "attempts" | "since" | "status" | "stepPath"> & {
  readonly [K in "nextRetryAt" | "resumed" | "inputs" | "undoes"]?: ActivePath[K] | undefined;
} & { readonly begun?: boolean };

/**
 * The tasks that are due: paths that are ready, and retries whose time has come. First those of the execution itself, in the order
 * of its paths, then those of its children.
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
 * @param early the `taskAddress` of one retry that is to be made before its time, because the caller asked for it; null for none
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

/** The address of the retry that is due first, of the execution and its children; null if none is pending. */
export function earliestOf(draft: Draft): string | null {
  let first = earliestRetry(draft.paths);
  let address = first && taskAddress(first, "");
  // a child that is held up has no retry: it was paused when its map had no more room
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
  // a map around it has no room for it yet
  for (let scope = key; scope !== ""; scope = parentKey(scope)) if (childStates[scope]?.queued !== undefined) return false;
  return true;
}

/** The task of a path, due or not. @param scope key of the child that it is in; empty for the execution itself */
export function taskOf(path: PlannedPath, scope: string): Task {
  const { id, turn, visit, nodeId, attempts, since, resumed, inputs, undoes, stepPath } = path;
  const task = { pathId: id, turn, visit, nodeId, attempt: attempts + 1, since, resumed, inputs, undoes, stepPath };
  const whole: Task = path.begun ? { ...task, begun: true } : task;
  return scope === "" ? whole : { scope, ...whole };
}

interface Due {
  readonly scope: ScopeDraft;
  readonly at: EpochMs;
  /** Null if it is the deadline of the scope. */
  readonly timer: { readonly path: DraftPath; readonly wait: Wait; readonly late: boolean } | null;
}

/** Whether anything may have a time. If nothing does, the clock need not be read. */
export function hasTimer({ paths, timers, deadlineAt }: Draft): boolean {
  if (deadlineAt !== undefined) return true;
  for (const { waits } of paths) if (waits) return true;
  return timers.first() !== null;
}

/**
 * The event of the timer or deadline that came first, if one is due; null if none is.
 *
 * Of a wait's two times the earlier wins, on a tie the timeout. On other ties the deadline of a scope comes after everything in it.
 */
export function due(draft: Draft, now: EpochMs): ResumedEvent | TimedOutEvent | ExpiredEvent | null {
  if (rests(draft, now)) return null;
  let first = dueIn(draft, now, null);
  const child = draft.timers.first();
  if (child && child.at <= now) first = dueIn(scopeAt(draft, child.key)!, now, first);
  first = deadlineDue(draft, now, first);
  if (!first) return null;
  const { scope, timer } = first;
  const stamp = { version: draft.version + 1, at: now, ...(isChild(scope) && { scope: scope.key }) };
  if (!timer) return { type: "expired", ...stamp };
  const { path, wait, late } = timer;
  const answered = { ...stamp, pathId: path.id, waitId: wait.id };
  return late ? timedOut(scope, path, wait, answered) : { type: "resumed", ...answered, by: "timer" };
}

/** What is due first in a scope, without its children; its deadline only if it is a child. */
function dueIn(scope: ScopeDraft, now: EpochMs, before: Due | null): Due | null {
  let first = before;
  for (const path of scope.paths) {
    for (const wait of path.waits ?? []) {
      const { resumeAt = Number.POSITIVE_INFINITY, timeoutAt = Number.POSITIVE_INFINITY } = wait;
      const at = Math.min(resumeAt, timeoutAt);
      if (at <= now && (!first || at < first.at)) first = { scope, at, timer: { path, wait, late: timeoutAt <= resumeAt } };
    }
  }
  return isChild(scope) ? deadlineDue(scope, now, first) : first;
}

function deadlineDue(scope: ScopeDraft, now: EpochMs, first: Due | null): Due | null {
  const at = deadlineIn(scope);
  return at <= now && (!first || at < first.at) ? { scope, at, timer: null } : first;
}

function timedOut(
  { workflow }: ScopeDraft,
  { nodeId, attempts, undoes }: DraftPath,
  wait: Wait,
  stamp: Pick<TimedOutEvent, "version" | "at" | "scope" | "pathId" | "waitId">,
): TimedOutEvent {
  const error = Object.freeze({ name: "Timeout", ...lateness(wait, nodeId), nodeId });
  const event = { type: "timedOut" as const, ...stamp, nodeId, attempt: attempts + 1, error };
  if (undoes) return { ...event, undoes };
  const { edges } = workflow.nodes.get(nodeId)!;
  if (edges.has("timeout")) return { ...event, handle: "timeout" };
  return edges.has("error") ? { ...event, handle: "error" } : event;
}

function lateness({ kind, workflowId, timeoutAt }: Wait, nodeId: string): { readonly code: string; readonly message: string } {
  const awaited: Partial<Record<Wait["kind"], string>> = {
    child: `Execution "${workflowId}"`,
    children: "What it runs",
    delivery: "The delivery of its signal",
  };
  const what = awaited[kind];
  if (what === undefined) return { code: "WAIT_TIMEOUT", message: `Node "${nodeId}" was not answered in time` };
  return {
    code: "STEP_TIMEOUT",
    message: `Node "${nodeId}" is not done in time: ${what} had to end by ${new Date(timeoutAt!).toISOString()}`,
  };
}

/**
 * Which steps a turn has announced with a `BegunEvent`: those that can be undone, before their executors are called, so that
 * whoever ends the execution knows which of them may have had an effect.
 */
export class AnnouncedSteps {
  /** Announced by this turn and not begun yet, by path and turn. */
  readonly #waiting = new Set<string>();
  /** Tasks whose executors were never called before this turn; null as long as there is none. */
  #firsts: WeakSet<Task> | null = null;
  /** A task is due that may not be begun, because it is not announced yet. */
  isLacking = false;

  /** Announces what is about to be begun. @param mayBegin whether there is room for a task; null: for no more at all */
  announce(
    draft: Draft,
    now: EpochMs,
    early: string | null,
    mayBegin: (task: Task) => boolean | null,
    accept: (event: BegunEvent) => void,
  ): void {
    const tasks: Task[] = [];
    planDraft(draft, now, early, (task, { node }: Pick<DraftPath, "node">) => {
      const may = mayBegin(task);
      if (may && isUnannounced(task, node)) tasks.push(task);
      return may !== null;
    });
    for (const task of tasks) {
      const { scope, pathId, turn, nodeId } = task;
      accept({ type: "begun", version: draft.version + 1, at: now, ...(scope !== undefined && { scope }), pathId, turn, nodeId });
      this.#waiting.add(announcement(task));
    }
  }

  /** Whether a task may be begun: it is announced, or need not be. */
  begin(task: Task, node: CompiledNode): boolean {
    if (isUnannounced(task, node)) {
      // another commit was first, and brought it
      this.isLacking = true;
      return false;
    }
    // few workflows have such steps: for all others no name is made for the task
    if (this.#waiting.size > 0 && this.#waiting.delete(announcement(task))) {
      this.#firsts ??= new WeakSet();
      this.#firsts.add(task);
    }
    return true;
  }

  /** Whether a task may have had an effect. What an attempt before it has done stays done, also if this one never came so far. */
  mayHaveActed(task: Task, isCalled: boolean): boolean {
    return task.begun === true && (isCalled || !this.#firsts?.has(task));
  }
}

function isUnannounced({ begun, undoes }: Task, { compensation }: CompiledNode): boolean {
  return compensation !== null && !begun && !undoes;
}

function announcement({ scope = "", pathId, turn }: Task): string {
  return `${scope}>${pathId}@${turn}`;
}
