import type { CompiledNode } from "../definition/compiled.ts";
import { heldUp } from "../snapshot/address.ts";
import type { BegunEvent, ExpiredEvent, ResumedEvent, TimedOutEvent } from "../snapshot/event.ts";
import type { Resumed, Wait } from "../snapshot/parts/wait.ts";
import type { ActivePath, ChildState, ResultRef, Snapshot, Undo } from "../snapshot/snapshot.ts";
import type { EpochMs } from "../values/json.ts";
import { type Draft, isChild, isHeldUp, type ScopeDraft } from "./draft/draft.ts";
import { type DraftPath, earliestRetry } from "./draft/draft-path.ts";
import { deadlineIn, isParkedNow } from "./draft/draft-status.ts";
import { scopeAt } from "./draft/open-draft.ts";

/** A node that can be performed now, on one path. */
export interface Task {
  /** The key of the child that the path is in; absent for the execution itself. */
  readonly scope?: string;
  readonly pathId: string;
  /**
   * The turn of the path, which rises whenever something happens to the path. `pathId@turn` names this task: an outcome for another
   * turn comes too late and is dropped.
   */
  readonly turn: number;
  /**
   * The turn at which this visit of the node began: the path arrived, its join fired, or a retry began a new visit (`FailedEvent.anew`).
   * `pathId#visit` stays the same for every attempt and resume of the visit.
   */
  readonly visit: number;
  readonly nodeId: string;
  /** The number of the attempt, from 1. It is 1 again after a wait, except a wait for a detached execution or for a delivery. */
  readonly attempt: number;
  /** The version at which the path arrived at the node: expressions in the node's data see the results up to this version. */
  readonly since: number;
  /** Why the step runs again after a wait, or, for the first step, the payload that was given at the start; absent otherwise. */
  readonly resumed?: Resumed | undefined;
  /** At a join: the results that the joined branches came with. */
  readonly inputs?: readonly ResultRef[] | undefined;
  /** True if the step was announced (see `AnnouncedSteps`): its executor may have been called. Only for a node with `compensate`. */
  readonly begun?: true;
  /** The result that must be undone. If it is set, the node's `compensate` is performed in place of the node. */
  readonly undoes?: Undo | undefined;
  /** The nodes that the path came through, at most the last 8. */
  readonly stepPath: readonly string[];
}

/** The fields of a path that `plan` reads. Paths of a snapshot and of a draft both have them. */
type PlannedPath = Pick<ActivePath, "id" | "turn" | "visit" | "nodeId" | "attempts" | "since" | "status" | "stepPath"> & {
  readonly [K in "nextRetryAt" | "resumed" | "inputs" | "undoes"]?: ActivePath[K] | undefined;
} & { readonly begun?: boolean };

/**
 * Returns the tasks that are due: paths that are ready, and retries whose time has come; none while the execution is parked. The tasks of
 * the execution itself come first, in the order of its paths, then those of the children that have a place in their map.
 *
 * ```ts
 * plan(snapshot, Date.now()).map((task) => task.nodeId); // ["charge"]
 * ```
 */
export function plan(snapshot: Pick<Snapshot, "activePaths" | "childStates" | "parked">, now: EpochMs): Task[] {
  const tasks: Task[] = [];
  if (isParkedNow(snapshot, now)) return tasks;
  for (const path of snapshot.activePaths) if (isDue(path, now)) tasks.push(taskOf(path, ""));
  for (const [key, child] of Object.entries(snapshot.childStates ?? {})) {
    if (mayMove(snapshot, key, child)) for (const path of child.activePaths) if (isDue(path, now)) tasks.push(taskOf(path, key));
  }
  return tasks;
}

/**
 * Visits the tasks of a draft that are due, until `visit` returns false. It visits none while the execution is parked.
 *
 * @param early the `taskAddress` of a retry that is made before its time because the caller asked for it; null for none
 */
export function planDraft(draft: Draft, now: EpochMs, early: string | null, visit: (task: Task, path: DraftPath) => boolean): void {
  if (isParkedNow(draft, now)) return;
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

/** Whether any task of a draft is due, or is the retry `early` (see `planDraft`). */
export function isAnyDue(draft: Draft, now: EpochMs, early: string | null): boolean {
  let any = false;
  planDraft(draft, now, early, () => {
    any = true;
    return false;
  });
  return any;
}

/** Returns the name of a task: the key of its scope, its path and its turn, such as `0#1/3>0@2`. */
function taskAddress({ id, turn }: Pick<PlannedPath, "id" | "turn">, scope: string): string {
  return `${scope === "" ? "" : `${scope}>`}${id}@${turn}`;
}

/**
 * Returns the `taskAddress` of the retry that is due first, in the execution and its children; null if none is pending. A child that waits
 * for a place in its map is left out, because its retry cannot be made before it has one.
 */
export function earliestOf(draft: Draft): string | null {
  let first = earliestRetry(draft.paths);
  let address = first && taskAddress(first, "");
  for (const child of draft.awake) {
    const own = earliestRetry(child.paths);
    if (!own || (first && (first.nextRetryAt ?? 0) <= (own.nextRetryAt ?? 0)) || isHeldUp(child)) continue;
    first = own;
    address = taskAddress(own, child.key);
  }
  return address;
}

function isDue({ status, nextRetryAt }: PlannedPath, now: EpochMs): boolean {
  return status === "ready" || (status === "retrying" && (nextRetryAt ?? 0) <= now);
}

function mayMove(snapshot: Pick<Snapshot, "childStates">, key: string, { status }: ChildState): boolean {
  return (status === "active" || status === "error") && !heldUp(snapshot, key);
}

/** Returns the task of a path, even if it is not due. @param scope the key of the child with the path; empty for the execution itself */
export function taskOf(path: PlannedPath, scope: string): Task {
  const { id, turn, visit, nodeId, attempts, since, resumed, inputs, undoes, stepPath } = path;
  const task = { pathId: id, turn, visit, nodeId, attempt: attempts + 1, since, resumed, inputs, undoes, stepPath };
  const whole: Task = path.begun ? { ...task, begun: true } : task;
  return scope === "" ? whole : { scope, ...whole };
}

/** A timer or a deadline that is due. */
interface Due {
  readonly scope: ScopeDraft;
  readonly at: EpochMs;
  /** The timer of a wait; `late` is true if it is the `timeoutAt` of the wait. Null for the deadline of the scope. */
  readonly timer: { readonly path: DraftPath; readonly wait: Wait; readonly late: boolean } | null;
}

/** Whether an execution may have a timer or a deadline. If it has none, the clock need not be read. */
export function hasTimer({ paths, timers, deadlineAt }: Draft): boolean {
  if (deadlineAt !== undefined) return true;
  for (const { waits } of paths) if (waits) return true;
  return timers.first() !== null;
}

/**
 * Returns the event of the earliest timer or deadline that is due; null if none is due or the execution is parked.
 *
 * Of the two times of a wait the earlier one counts; if they are equal, the timeout. Of timers and deadlines that are due at the same time,
 * a timer comes first, then the deadline of the innermost scope.
 */
export function due(draft: Draft, now: EpochMs): ResumedEvent | TimedOutEvent | ExpiredEvent | null {
  if (isParkedNow(draft, now)) return null;
  let first = dueIn(draft, now, null);
  const child = draft.timers.first();
  if (child && child.at <= now) {
    first = dueIn(scopeAt(draft, child.key)!, now, first);
    // other children may have a timer at the time of this deadline, or a deadline further inside
    if (first?.timer === null) for (const key of draft.timers.keysAt(child.at)) first = dueIn(scopeAt(draft, key)!, now, first);
  }
  first = deadlineDue(draft, now, first);
  if (!first) return null;
  const { scope, timer } = first;
  const stamp = { version: draft.version + 1, at: now, ...(isChild(scope) && { scope: scope.key }) };
  if (!timer) return { type: "expired", ...stamp };
  const { path, wait, late } = timer;
  const answered = { ...stamp, pathId: path.id, waitId: wait.id };
  return late ? timedOut(scope, path, wait, answered) : { type: "resumed", ...answered, by: "timer" };
}

/** Returns the earlier of `before` and what is due first in a scope, without its children. The deadline counts only for a child. */
function dueIn(scope: ScopeDraft, now: EpochMs, before: Due | null): Due | null {
  let first = before;
  for (const path of scope.paths) {
    for (const wait of path.waits ?? []) {
      const { resumeAt = Number.POSITIVE_INFINITY, timeoutAt = Number.POSITIVE_INFINITY } = wait;
      const at = Math.min(resumeAt, timeoutAt);
      if (at <= now) first = earlier(first, { scope, at, timer: { path, wait, late: timeoutAt <= resumeAt } });
    }
  }
  return isChild(scope) ? deadlineDue(scope, now, first) : first;
}

function deadlineDue(scope: ScopeDraft, now: EpochMs, first: Due | null): Due | null {
  const at = deadlineIn(scope);
  return at <= now ? earlier(first, { scope, at, timer: null }) : first;
}

/** Returns the one that comes first; `before` if neither does. */
function earlier(before: Due | null, next: Due): Due {
  if (!before || next.at < before.at) return next;
  if (next.at > before.at || before.timer) return before;
  return next.timer || depthOf(next.scope) > depthOf(before.scope) ? next : before;
}

/** The number of scopes around a scope. */
function depthOf(scope: ScopeDraft): number {
  return isChild(scope) ? depthOf(scope.parent) + 1 : 0;
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
    children: "Its children",
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
 * The steps that a turn, or a batch of steps of a guest, has announced. A step that can be undone is announced by a `BegunEvent` before its
 * executor is called, so that it is known at the end of the execution which steps may have had an effect, even if the process has died.
 */
export class AnnouncedSteps {
  /** The tasks that this turn has announced and not begun yet, by scope, path and turn. */
  readonly #waiting = new Set<string>();
  /** The tasks whose executors were never called before this turn; null until there is one. */
  #firsts: WeakSet<Task> | null = null;
  /** True if a task is due that cannot begin, because it is not announced yet. The turn then looks again, and resets this field. */
  isLacking = false;

  /**
   * Announces the steps that are about to begin, if they can be undone and were not announced before. `accept` applies the event of each.
   *
   * @param mayBegin whether a task may begin; null if no further task may begin
   */
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
      accept(begunEvent(draft, now, task));
      this.#waiting.add(announcement(task));
    }
  }

  /** Announces a step that code has asked for, and whose path comes into being with this event. @param compensation the node that undoes it */
  announceAsked(draft: Draft, now: EpochMs, task: Task, compensation: CompiledNode, accept: (event: BegunEvent) => void): void {
    const { constant: data } = compensation;
    accept({ ...begunEvent(draft, now, task), undo: { type: compensation.node.type, ...(data !== null && { data }) } });
    this.#waiting.add(announcement(task));
  }

  /** Whether a task may begin: it was announced, or need not be announced. */
  begin(task: Task, node: CompiledNode): boolean {
    if (isUnannounced(task, node)) {
      // a commit from outside of this turn made the task due after the last `announce`
      this.isLacking = true;
      return false;
    }
    // few workflows have steps that can be undone, so the name of the task is created only if there are announced steps
    if (this.#waiting.size > 0 && this.#waiting.delete(announcement(task))) {
      this.#firsts ??= new WeakSet();
      this.#firsts.add(task);
    }
    return true;
  }

  /**
   * Whether the step of a task may have had an effect that must be undone: it can be undone, and its executor was called, now or in an
   * earlier attempt.
   *
   * @param isCalled whether the executor was called in this attempt
   */
  mayHaveActed(task: Task, isCalled: boolean): boolean {
    return task.begun === true && (isCalled || !this.#firsts?.has(task));
  }
}

function isUnannounced({ begun, undoes }: Task, { compensation }: CompiledNode): boolean {
  return compensation !== null && !begun && !undoes;
}

function begunEvent({ version }: Draft, at: EpochMs, { scope, pathId, turn, nodeId }: Task): BegunEvent {
  return { type: "begun", version: version + 1, at, ...(scope !== undefined && { scope }), pathId, turn, nodeId };
}

function announcement({ scope = "", pathId, turn }: Task): string {
  return `${scope}>${pathId}@${turn}`;
}
