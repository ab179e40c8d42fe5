import type { Target } from "../core/find-wait.ts";
import type { Json } from "../core/json.ts";
import type { Snapshot } from "../core/snapshot.ts";
import type { Watched } from "./watch.ts";

/** How to answer a wait. */
export interface ResumeOptions {
  /** The node that waits. Needed, or `waitId`, when several do. */
  readonly step?: string | undefined;
  readonly waitId?: string | undefined;
  readonly payload?: unknown;
  /** Who answers; kept in the history. */
  readonly by?: string | undefined;
  /** The same key with the same payload is one answer, however often it is sent. */
  readonly idempotencyKey?: string | undefined;
}

/** A durable execution. A handle, not the execution: any number of them, in any process, reach the same one. */
export interface Run {
  readonly workflowId: string;
  /**
   * The output, once there is one; waits through pauses, retries and restarts of other processes.
   *
   * @throws StepfoldError `EXECUTION_FAILED`, `EXECUTION_CANCELLED`
   */
  result(): Promise<Json>;
  /** The snapshot, once nothing can move without outside help: it has ended, or waits and no timer runs. */
  settled(): Promise<Snapshot>;
  /** @throws StepfoldError `WORKFLOW_NOT_FOUND` */
  snapshot(): Promise<Snapshot>;
  /**
   * Every event with the snapshot after it, those to come included, until the execution ends.
   *
   * ```ts
   * for await (const { activePaths } of run.watch()) {
   *   const approval = activePaths.get("approval");
   *   if (approval?.status === "suspended") console.log(approval.suspendPayload);
   * }
   * ```
   *
   * @param options `after`: the last version you have seen; default: from the beginning
   */
  watch(options?: { readonly after?: number }): AsyncGenerator<Watched, void, void>;
  /**
   * Answers a wait. Resolves after the answer is committed; of several answers to one wait exactly one is applied.
   *
   * @returns `applied: false` if the same idempotency key with the same payload was applied before
   * @throws StepfoldError `WAIT_GONE`, `WAIT_EXPIRED`, `RESUME_AMBIGUOUS`, `RESUME_CONFLICT`, `RESUME_INVALID`,
   * `EXECUTION_ENDED`, `WORKFLOW_NOT_FOUND`; nothing is changed
   */
  resume(options?: ResumeOptions): Promise<{ readonly applied: boolean }>;
  /** Ends the execution; steps under way get their `AbortSignal`. @throws StepfoldError `EXECUTION_ENDED`, `WORKFLOW_NOT_FOUND` */
  cancel(reason?: string): Promise<void>;
  /** Makes the earliest pending retry, or that of a node, at once. @throws StepfoldError `RETRY_NOT_PENDING`, ... */
  retry(options?: { readonly step?: string }): Promise<void>;
}

/** The target that resume options name. */
export function targetOf({ step, waitId }: ResumeOptions): Target | undefined {
  if (waitId !== undefined) return { waitId };
  return step === undefined ? undefined : { node: step };
}
