import { scopedKey } from "../core/snapshot/address.ts";
import { isFirstOfStep } from "../core/transition/code/code-path.ts";
import type { Draft } from "../core/transition/draft/draft.ts";
import { scopeAt } from "../core/transition/draft/open-draft.ts";
import type { Task } from "../core/transition/plan.ts";
import type { Attempt } from "./attempt/perform.ts";
import type { CodeRuns } from "./code/code-runs.ts";

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

  /** Forgets and aborts the tasks whose paths have ended or moved on without them. */
  abortUnwanted(draft: Draft, codes: CodeRuns | null): void {
    for (const [name, { task, attempt }] of this.#tasks) {
      const scope = scopeAt(draft, task.scope);
      const path = scope?.paths.find(({ id }) => id === task.pathId);
      // the path of a step that code has asked for comes into being with its first event
      const isAsked = scope !== null && !path && codes?.askOf(task) !== undefined && isFirstOfStep(scope, task);
      if (path?.turn === task.turn || isAsked) continue;
      this.#tasks.delete(name);
      codes?.ended(task);
      attempt.abort(new DOMException("The step is no longer wanted", "AbortError"));
    }
  }
}

function nameOf({ scope, pathId }: Named): string {
  return scope === undefined ? pathId : scopedKey(scope, pathId);
}
