import type { Explanation } from "../../core/explain/explain.ts";
import type { WaitInfo } from "../../core/explain/waits.ts";
import type { Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import type { Target } from "../../core/snapshot/target.ts";
import type { Duration } from "../../core/values/duration.ts";
import type { Json } from "../../core/values/json.ts";
import type { ForkOptions, ForkPlan, RestartOptions } from "../forks/fork.ts";
import type { WaitOptions } from "./end-of-wait.ts";
import type { ResultOptions } from "./follow.ts";
import type { Watched } from "./watch.ts";

/** A wait, a path or a node of an execution. */
export interface Place {
  /** Id of a node, or its address: `approve`, `map[3]/approve`. */
  readonly step?: string | undefined;
  /** With `step`: in the item of the map with this index. */
  readonly item?: number | undefined;
  readonly waitId?: string | undefined;
  /** Id of a path, with the children around it. */
  readonly pathId?: string | undefined;
}

/** Which wait of an execution. With none of these: the first that somebody can answer. */
export interface WaitQuery extends Place {
  /** Name of the signal that is waited for. */
  readonly signal?: string | undefined;
}

/** How to answer a wait. `step` or `waitId` is needed where there are several. */
export interface ResumeOptions extends Place {
  readonly payload?: unknown;
  /** Who answers; kept in the history. Needed where only certain people may, or where several have to. */
  readonly by?: string | undefined;
  /** The same key with the same payload is one answer, however often it is sent. An execution remembers its latest 1,000 keys. */
  readonly idempotencyKey?: string | undefined;
}

/** How to send a signal. */
export interface SignalOptions {
  /** Only for waits with the same key. */
  readonly key?: string | undefined;
  /** How long it is kept for a wait that is not open yet. Default 30 days. */
  readonly ttl?: Duration | undefined;
  /** The same key with the same payload is one signal, however often it is sent. An execution remembers its latest 1,000 keys. */
  readonly idempotencyKey?: string | undefined;
}

/** What to cancel. */
export interface CancelOptions extends Place {
  readonly reason?: string | undefined;
}

/** A durable execution. A handle, not the execution: any number of them, in any process, reach the same one. */
export interface Run {
  readonly workflowId: string;
  /**
   * The output, once there is one; waits through pauses, retries and restarts of other processes. Where the execution has failed or was
   * cancelled, and was restarted (`restart`), the output of what goes on in its place, unless `follow` is false.
   *
   * @param options `signal` and `timeoutMs` end the waiting, and not the execution
   * @throws StepfoldError `EXECUTION_FAILED` with node, code and message of what failed, and of a failed map with the first item that
   * failed (`cause`); `EXECUTION_CANCELLED` with the reason; `RUNTIME_CLOSED` if the
   * runtime is closed before; `NOT_IN_TIME`; the reason of `signal`
   */
  result(options?: ResultOptions): Promise<Json>;
  /**
   * The snapshot, once nothing can move without outside help: it has ended, or waits and no timer runs, and the same is
   * true of detached executions that it waits for. Follows a restart as `result` does.
   *
   * @param options `signal` and `timeoutMs` end the waiting
   * @throws StepfoldError `RUNTIME_CLOSED`, `NOT_IN_TIME`; the reason of `signal`
   */
  settled(options?: ResultOptions): Promise<Snapshot>;
  /**
   * The snapshot, once the execution has this status, or one of these. A status that it has for a moment only may be missed: what
   * other processes do is seen when it is looked for.
   *
   * ```ts
   * await run.waitFor("paused", { timeoutMs: 10_000 });
   * await run.waitFor(["completed", "failed", "cancelled"]);
   * ```
   *
   * @throws StepfoldError `EXECUTION_ENDED` if it has ended with another one; `NOT_IN_TIME`, `OPTION_INVALID`, `OPTION_UNKNOWN`,
   * `RUNTIME_CLOSED`, `WORKFLOW_NOT_FOUND`; the reason of `signal`
   */
  waitFor(status: Status | readonly Status[], options?: WaitOptions): Promise<Snapshot>;
  /**
   * A wait of the execution, once it is open: with the payload of its step, and how it is answered.
   *
   * ```ts
   * const { id, payload } = await run.waitFor({ step: "approve" });
   * await run.resume({ waitId: id, payload: { approved: true } });
   * ```
   *
   * @throws StepfoldError as with a status; `EXECUTION_ENDED` if it has ended
   */
  waitFor(wait: WaitQuery, options?: WaitOptions): Promise<WaitInfo>;
  /** Everything that it waits for now: answers, signals, times. @throws StepfoldError `WORKFLOW_NOT_FOUND` */
  waits(): Promise<readonly WaitInfo[]>;
  /**
   * Where it stands, in data and in words: what it does or waits for, who can move it, by when, and what happens then.
   *
   * ```ts
   * const { sentence } = await run.explain(); // approve waits for an answer from ada or bob, ...
   * ```
   *
   * @throws StepfoldError `WORKFLOW_NOT_FOUND`
   */
  explain(): Promise<Explanation>;
  /**
   * The execution that goes on in place of this one: what it was restarted as, and that in turn. This one, if it was not restarted.
   *
   * @throws StepfoldError `WORKFLOW_NOT_FOUND`
   */
  latest(): Promise<Run>;
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
   * Leaving the loop, or `return()`, ends it at once, also while it waits.
   *
   * @param options `after`: the last version you have seen; default: from the beginning. `signal` ends it with its reason,
   * `timeoutMs` with `NOT_IN_TIME`
   * @throws StepfoldError `WORKFLOW_NOT_FOUND` if the execution is deleted meanwhile; `RUNTIME_CLOSED`, `NOT_IN_TIME`
   */
  watch(options?: WaitOptions & { readonly after?: number | undefined }): AsyncGenerator<Watched, void, void>;
  /**
   * Answers a wait. Resolves after the answer is committed; of several answers to one wait exactly one is applied.
   *
   * @returns `applied: false` if the same idempotency key with the same payload was applied before
   * @throws StepfoldError `WAIT_GONE`, `WAIT_EXPIRED`, `RESUME_AMBIGUOUS`, `RESUME_CONFLICT`, `RESUME_INVALID`,
   * `EXECUTION_ENDED`, `WORKFLOW_NOT_FOUND`; nothing is changed
   */
  resume(options?: ResumeOptions): Promise<{ readonly applied: boolean }>;
  /**
   * Sends a signal. The oldest wait for it takes it; if no path waits for it yet, it is kept until one does. Where the execution has
   * ended and goes on as a new one (`continueAs`), that one gets it.
   *
   * @returns `applied: false` if the same idempotency key with the same payload was sent before
   * @throws StepfoldError `RESUME_INVALID` (a path waits for another payload), `RESUME_CONFLICT`, `LIMIT_EXCEEDED`,
   * `EXECUTION_ENDED`, `WORKFLOW_NOT_FOUND`
   */
  signal(name: string, payload?: unknown, options?: SignalOptions): Promise<{ readonly applied: boolean }>;
  /**
   * Changes metadata: members of `patch` take the place of those with the same key, null takes a key away, others stay. It is one event in the history,
   * in order with everything else that happens; from its commit on lists, expressions and steps that begin later see it. Nothing goes on because
   * of it: what waits or is parked stays so.
   *
   * @returns `applied: false` if the same idempotency key with the same patch was applied before
   * @throws StepfoldError `EXECUTION_ENDED`, also if it ends in this moment; `METADATA_CONFLICT`, `OPTION_INVALID`, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`,
   * `WORKFLOW_NOT_FOUND`; nothing is changed
   *
   * ```ts
   * await run.setMetadata({ customer: "c-7", draft: null });
   * const { items } = await runtime.list({ metadata: { customer: "c-7" } });
   * ```
   */
  setMetadata(
    patch: Readonly<Record<string, unknown>>,
    options?: { readonly idempotencyKey?: string | undefined },
  ): Promise<{ readonly applied: boolean }>;
  /**
   * Ends the execution, or with `step` the paths at that node, or with `item` too that item of its map. Steps in
   * flight get their `AbortSignal`. Completed steps are undone first, if their nodes have a `compensate`. One that is parked because
   * something could not be undone ends with that.
   *
   * @throws StepfoldError `EXECUTION_ENDED`, `WAIT_GONE` (no path is there), `WORKFLOW_NOT_FOUND`
   */
  cancel(options?: CancelOptions): Promise<void>;
  /** Makes the earliest pending retry, or that of a node, at once; lets a parked execution go on, also to undo what could not be undone. @throws StepfoldError `RETRY_NOT_PENDING`, ... */
  retry(options?: { readonly step?: string }): Promise<void>;
  /**
   * Begins a new execution that goes on from a version of this one, with its results, waits, signals and children. Waits keep the time
   * that was left to them. This one goes on as before.
   *
   * ```ts
   * const fork = await run.fork({ node: "charge", input: { ...input, card: "4242" } });
   * await fork.result();
   * ```
   *
   * The history is not copied: `snapshot.from` names this execution and the version. Steps act under new idempotency keys, so one
   * that is performed again has its effect again; `planFork` lists them. A step that waits for a detached execution starts one of its own.
   *
   * Called again with the same `workflowId`, it gives the same fork.
   *
   * @throws StepfoldError `FORK_REFUSED` if nothing can go on from that version; `DEFINITION_CHANGED` if another `definition` lacks a node
   * where a path stands; `NODE_UNKNOWN`, `INPUT_INVALID`, `START_CONFLICT`, `WORKFLOW_NOT_FOUND`
   */
  fork(options?: ForkOptions): Promise<Run>;
  /** What `fork` would do. Changes nothing. */
  planFork(options?: ForkOptions): Promise<ForkPlan>;
  /**
   * Begins a new execution where this one failed or was cancelled: at the last version before its end. The step that failed has all its
   * attempts again, and a wait that was not answered in time its whole time. Its id is that of this one with `~2`, `~3`, ... at the end, so
   * called twice, it gives the same execution, and `result` of this one follows it.
   *
   * It goes on to wait for the detached executions that this one waited for: those that run still, and those that have completed; those
   * that have failed or were cancelled are restarted with it (`planRestart` lists them).
   *
   * ```ts
   * await run.result().catch(() => undefined); // EXECUTION_FAILED: the card was refused
   * const restarted = await run.restart({ compensated: "again" }); // order-7~2
   * await run.result(); // that of order-7~2
   * ```
   *
   * @throws StepfoldError `FORK_REFUSED` if it has not ended, or has completed, or a detached execution of it is still coming to its end; `RESTART_COMPENSATED` if steps of it were undone and
   * `compensated` does not say what is to become of them; and what `fork` throws
   */
  restart(options?: RestartOptions): Promise<Run>;
  /** What `restart` would do. Changes nothing. */
  planRestart(options?: RestartOptions): Promise<ForkPlan>;
  /** Gives the open map at a node another item. @throws StepfoldError `MAP_CLOSED`, `INPUT_INVALID`, ... */
  addItem(step: string, item: unknown): Promise<void>;
  /** The open map at a node gets no more items. @throws StepfoldError `MAP_CLOSED`, ... */
  closeMap(step: string): Promise<void>;
  /** The map at a node goes on at once with the finished items; items in flight are cancelled. @throws StepfoldError `MAP_CLOSED`, ... */
  completeMap(step: string): Promise<void>;
}

/** The target of a command. */
export function targetOf({ step, item, waitId, pathId }: Place): Target | undefined {
  if (waitId !== undefined) return { waitId };
  if (pathId !== undefined) return { pathId };
  if (step === undefined) return undefined;
  return item === undefined ? step : { node: step, item };
}
