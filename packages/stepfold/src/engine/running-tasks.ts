import { scopedKey } from "../core/snapshot/address.ts";
import type { Task } from "../core/transition/plan.ts";
import type { Attempt } from "./attempt/perform.ts";

/** What names a task: its path. */
type Named = Pick<Task, "scope" | "pathId">;

/** A task that was begun. */
interface Running {
  readonly task: Task;
  readonly attempt: Attempt;
}

/** The tasks of a turn that were begun and whose outcomes are not applied yet. A path has one at a time. */
export class RunningTasks {
  readonly #tasks = new Map<string, Running>();

  get size(): number {
    return this.#tasks.size;
  }

  has(task: Named): boolean {
    return this.#tasks.has(nameOf(task));
  }

  get(task: Named): Running | undefined {
    return this.#tasks.get(nameOf(task));
  }

  add(task: Task, attempt: Attempt): void {
    this.#tasks.set(nameOf(task), { task, attempt });
  }

  delete(task: Named): void {
    this.#tasks.delete(nameOf(task));
  }

  /** Aborts all tasks; they are still known. */
  abortAll(reason: unknown): void {
    for (const { attempt } of this.#tasks.values()) attempt.abort(reason);
  }

  /** Forgets and aborts tasks that are not wanted any more. @param onAborted called with each of them */
  abortUnwanted(isWanted: (task: Task) => boolean, onAborted: (task: Task) => void): void {
    for (const [name, { task, attempt }] of this.#tasks) {
      if (isWanted(task)) continue;
      this.#tasks.delete(name);
      onAborted(task);
      attempt.abort(new DOMException("The step is no longer wanted", "AbortError"));
    }
  }
}

function nameOf({ scope, pathId }: Named): string {
  return scope === undefined ? pathId : scopedKey(scope, pathId);
}
