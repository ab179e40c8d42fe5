import type { ImportedWorkflow, OnlyImported } from "../../core/definition/imported-workflow.ts";
import type { ExplainOptions, Explanation } from "../../core/explain/explain.ts";
import type { WaitInfo } from "../../core/explain/waits.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import type { Target } from "../../core/snapshot/target.ts";
import type { Duration } from "../../core/values/duration.ts";
import type { Json } from "../../core/values/json.ts";
import type { Asked } from "../../engine/commands/asked.ts";
import type { PayloadTypes, SignalOf, SignalToken, WaitOf, WaitToken } from "../../engine/node/typed.ts";
import type { RestartOutcome } from "../delivery/restart-execution.ts";
import type { ForkOptions, ForkPlan } from "../forks/fork.ts";
import type { RestartOptions } from "../forks/plan-restart.ts";
import type { WaitOptions } from "./end-of-wait.ts";
import type { Watched } from "./watch.ts";

/** A wait, a path or a node of an execution. */
export interface Place {
  /** Id of a node, or its address: `approve`, `map[3]/approve`. */
  readonly step?: string | undefined;
  /** With `step`: index of an item of a map. `step` is then a node in this item, or the map itself. */
  readonly item?: number | undefined;
  /** Id of a wait. */
  readonly waitId?: string | undefined;
  /** Id of a path, such as `0.1`. The id of a path in a child begins with the key of the child: `0#1/3>0.1`. */
  readonly pathId?: string | undefined;
}

/** Which wait of an execution is meant. Without any member: the first wait that somebody can answer. */
export interface WaitQuery extends Place {
  /** Name of the signal that is waited for. */
  readonly signal?: string | undefined;
}

/** How to answer a wait. A place, such as `step` or `waitId`, is needed if there are several waits. */
export interface ResumeOptions extends Place, Asked {
  readonly payload?: unknown;
  /** The same key with the same payload is one answer. A key is known for at least 7 days (`limits.idempotencyKeyMs`). */
  readonly idempotencyKey?: string | undefined;
}

/** How to send a signal. */
export interface SignalOptions extends Asked {
  /** Only waits with the same key take the signal. */
  readonly key?: string | undefined;
  /** How long the signal is kept for a wait that is not open yet. Default 30 days. */
  readonly ttl?: Duration | undefined;
  /** The same key with the same payload is one signal. A key is known for at least 7 days (`limits.idempotencyKeyMs`). */
  readonly idempotencyKey?: string | undefined;
}

/** What to cancel. Without a place: the whole execution. */
export interface CancelOptions extends Place, Asked {
  readonly reason?: string | undefined;
}

/** Which part of a history to read. Without `after` and `before`: from the beginning. */
export interface EventsQuery {
  /** The events after this version; -1 is before the first one. */
  readonly after?: number | undefined;
  /** Instead of `after`: the last events before this version. */
  readonly before?: number | undefined;
  /** 1 to 1,000; default 100. */
  readonly limit?: number | undefined;
}

/** A part of a history. */
export interface EventPage {
  /** The oldest event first. */
  readonly items: readonly Event[];
  /** The `after`, or the `before`, with which the next page begins; null: there is no other event in this direction now. */
  readonly next: number | null;
}

/** Refuses a token as the options of an answer: its payload would be missing. */
interface NoToken {
  readonly "~payload"?: undefined;
}

/** Options whose `definition` was imported from a JSON file. */
type WithImported<O, W extends ImportedWorkflow> = Omit<O, "definition"> & { readonly definition: W & OnlyImported<W> };

/**
 * A handle on a durable execution. Any number of handles, in any process, reach the same execution. The execution of a schedule can be read
 * and waited for, but only `runtime.schedules` changes it: every other method except `retry` is refused with `SCHEDULE_DENIED`.
 */
export interface Run<Out = Json, Waits = PayloadTypes, Signals = PayloadTypes> {
  readonly workflowId: string;
  /**
   * True if the call that returned this handle (`start`, `fork`, `adopt`) has made the execution. False if it had been made before, and for
   * a handle from `get`.
   */
  readonly isNew: boolean;
  /**
   * Returns the output once the execution has completed. It waits through pauses, retries, crashes and further runs (`continueAs`). If the
   * execution has failed and is restarted later, that is a new wait: call it again.
   *
   * @param options `signal` and `timeoutMs` end the waiting, and not the execution
   * @throws StepfoldError `EXECUTION_FAILED` with the node, code and message of the failure (for a failed map, `cause` is the first item
   * that failed); `EXECUTION_CANCELLED` with the reason; `RUNTIME_CLOSED` if the runtime is closed; `NOT_IN_TIME`; the reason of `signal`
   */
  result(options?: WaitOptions): Promise<Out>;
  /**
   * Returns the snapshot once nothing can move without help from outside: the execution has ended, is parked until it is retried, or waits
   * and no timer of a wait runs (deadlines do not count), and the same is true of the detached executions that it waits for.
   *
   * @param options `signal` and `timeoutMs` end the waiting
   * @throws StepfoldError `RUNTIME_CLOSED`, `NOT_IN_TIME`; the reason of `signal`
   */
  settled(options?: WaitOptions): Promise<Snapshot>;
  /**
   * Returns the snapshot once the execution has this status, or one of these. A status that lasts only for a moment may be missed, because
   * this process looks only from time to time for the changes of other processes.
   *
   * ```ts
   * await run.waitFor("paused", { timeoutMs: 10_000 });
   * await run.waitFor(["completed", "failed", "cancelled"]);
   * ```
   *
   * @throws StepfoldError `EXECUTION_ENDED` if it has ended with another status; `NOT_IN_TIME`, `OPTION_INVALID`, `OPTION_UNKNOWN`,
   * `RUNTIME_CLOSED`, `WORKFLOW_NOT_FOUND`; the reason of `signal`
   */
  waitFor(status: Status | readonly Status[], options?: WaitOptions): Promise<Snapshot>;
  /**
   * Returns a wait of the execution once it is open, with the payload of its step and how to answer it.
   *
   * ```ts
   * const { id, payload } = await run.waitFor({ step: "approve" });
   * await run.resume({ waitId: id, payload: { approved: true } });
   * ```
   *
   * @throws StepfoldError as with a status; `EXECUTION_ENDED` if it has ended
   */
  waitFor(wait: WaitQuery, options?: WaitOptions): Promise<WaitInfo>;
  /** Returns everything that the execution waits for now: answers, signals, times. @throws StepfoldError `WORKFLOW_NOT_FOUND` */
  waits(): Promise<readonly WaitInfo[]>;
  /**
   * Explains the state of the execution as data and in words: what it does or waits for, who can move it, by when, and what happens then.
   * While a process holds the execution, its steps that can run are told as running; `worker` names the process.
   *
   * ```ts
   * const { sentence } = await run.explain(); // approve waits for an answer from ada or bob, ...
   * ```
   *
   * @throws StepfoldError `WORKFLOW_NOT_FOUND`
   */
  explain(options?: Pick<ExplainOptions, "messages">): Promise<Explanation>;
  /**
   * Returns a page of the history, the oldest event first: those after a version, or the last ones before a version. `next` is where the
   * next page in this direction begins.
   *
   * ```ts
   * for (let after = -1; ; ) {
   *   const { items, next } = await run.events({ after });
   *   for (const { version, type, at } of items) console.log(version, type, new Date(at));
   *   if (next === null) break;
   *   after = next;
   * }
   * const { items } = await run.events({ before: Number.MAX_SAFE_INTEGER, limit: 10 }); // the latest ten
   * ```
   *
   * Versions follow one another without a gap, but after a `trim` the first event is followed by that with which a later run began.
   *
   * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`, `WORKFLOW_NOT_FOUND`, `RUNTIME_CLOSED`
   */
  events(options?: EventsQuery): Promise<EventPage>;
  /** Loads the snapshot. @throws StepfoldError `WORKFLOW_NOT_FOUND` */
  snapshot(): Promise<Snapshot>;
  /**
   * Gives every event with the snapshot after it, including events to come, until the execution ends. It goes on over further runs
   * (`continueAs`). If the events of earlier runs were trimmed, it begins with the present run.
   *
   * ```ts
   * for await (const { activePaths } of run.watch()) {
   *   const approval = activePaths.get("approval");
   *   if (approval?.status === "suspended") console.log(approval.suspendPayload);
   * }
   * ```
   *
   * Leaving the loop, or calling `return()`, ends the watch at once, even while it waits.
   *
   * @param options `after`: the last version you have seen; default: from the beginning. `signal` ends the watch with its reason,
   * `timeoutMs` with `NOT_IN_TIME`
   * @throws StepfoldError `WORKFLOW_NOT_FOUND` if the execution is deleted meanwhile; `RUNTIME_CLOSED`, `NOT_IN_TIME`
   */
  watch(options?: WaitOptions & { readonly after?: number | undefined }): AsyncGenerator<Watched, void, void>;
  /**
   * Answers a wait. Resolves after the answer is committed. A wait of a typed workflow is named by its token, and the compiler checks the payload. If several answers to one wait are sent, exactly one is applied;
   * if the wait needs the answers of several people (`quorum`), at most one of each person.
   *
   * @returns `applied: false` if the same idempotency key with the same payload was applied before
   * @throws StepfoldError `WAIT_GONE`, `WAIT_EXPIRED`, `RESUME_AMBIGUOUS`, `RESUME_CONFLICT`, `RESUME_INVALID`,
   * `RESPONDER_DENIED`, `CODE_NEEDED`, `EXECUTION_ENDED`, `WORKFLOW_NOT_FOUND`; nothing is changed
   *
   * ```ts
   * await run.resume({ step: "approve", payload: { approved: true } });
   * await run.resume(order.waits.approve, { approved: true });
   * ```
   */
  resume(options?: ResumeOptions & NoToken): Promise<{ readonly applied: boolean }>;
  resume<Payload>(
    wait: WaitToken<Payload> & WaitOf<Waits>,
    payload: NoInfer<Payload>,
    options?: Omit<ResumeOptions, "step" | "payload">,
  ): Promise<{ readonly applied: boolean }>;
  /**
   * Sends a signal. The oldest wait for the signal takes it; if no path waits for it yet, it is kept until one does, also over further runs
   * (`continueAs`).
   *
   * @returns `applied: false` if the same idempotency key with the same payload was sent before
   * @throws StepfoldError `RESUME_INVALID` (a path waits for another payload), `RESUME_CONFLICT`, `LIMIT_EXCEEDED`,
   * `EXECUTION_ENDED`, `WORKFLOW_NOT_FOUND`
   */
  signal(name: string): Promise<{ readonly applied: boolean }>;
  signal<Payload = unknown>(
    signal: string | (SignalToken<Payload> & SignalOf<Signals>),
    payload: NoInfer<Payload>,
    options?: SignalOptions,
  ): Promise<{ readonly applied: boolean }>;
  /**
   * Changes metadata: members of `patch` replace those with the same key, null removes a key, other members stay. The change is one event
   * in the history. From its commit on, lists, expressions and steps that begin later see it. An execution that waits or is parked does not
   * go on because of it.
   *
   * @returns `applied: false` if the same idempotency key with the same patch was applied before
   * @throws StepfoldError `EXECUTION_ENDED`, also if it is just ending; `METADATA_CONFLICT`, `OPTION_INVALID`, `VALUE_NOT_JSON`,
   * `LIMIT_EXCEEDED`, `WORKFLOW_NOT_FOUND`; nothing is changed
   *
   * ```ts
   * await run.setMetadata({ customer: "c-7", draft: null });
   * const { items } = await runtime.list({ metadata: { customer: "c-7" } });
   * ```
   */
  setMetadata(
    patch: Readonly<Record<string, unknown>>,
    options?: Asked & { readonly idempotencyKey?: string | undefined },
  ): Promise<{ readonly applied: boolean }>;
  /**
   * Cancels the execution; with `step` only the paths at that node; with `step` and `item` only that item of a map. Steps in flight get
   * their `AbortSignal`. Completed steps are undone before the end, if their nodes have a `compensate`. An execution that is parked because
   * something could not be undone ends without undoing it.
   *
   * @throws StepfoldError `EXECUTION_ENDED`, `WAIT_GONE` (no path is there), `WORKFLOW_NOT_FOUND`
   */
  cancel(options?: CancelOptions): Promise<void>;
  /**
   * Makes the earliest pending retry, or that of a node, at once. Lets a parked execution go on; what could not be undone is tried again.
   *
   * @throws StepfoldError `RETRY_NOT_PENDING`, ...
   */
  retry(options?: Asked & { readonly step?: string | undefined }): Promise<void>;
  /**
   * Begins a new execution that goes on from a version of this one, with the results, waits, signals and children of that version. Waits
   * keep the time that was left to them. This execution goes on as before.
   *
   * ```ts
   * const fork = await run.fork({ node: "charge", input: { ...input, card: "4242" } });
   * await fork.result();
   * ```
   *
   * The history is not copied: `snapshot.from` names this execution and the version. Steps act under new idempotency keys, so a step that
   * is performed again has its effect again; `planFork` lists these steps. A step that waits for a detached execution starts a new one.
   *
   * A second call with the same `workflowId` returns the same fork.
   *
   * @throws StepfoldError `FORK_REFUSED` if nothing can go on from that version; `DEFINITION_CHANGED` if another `definition` lacks a node
   * where a path stands; `NODE_UNKNOWN`, `INPUT_INVALID`, `START_CONFLICT`, `WORKFLOW_NOT_FOUND`
   */
  fork<const W extends ImportedWorkflow>(options: WithImported<ForkOptions, W>): Promise<Run>;
  fork(options?: ForkOptions): Promise<Run>;
  /** Returns what `fork` would do. Changes nothing. */
  planFork<const W extends ImportedWorkflow>(options: WithImported<ForkOptions, W>): Promise<ForkPlan>;
  planFork(options?: ForkOptions): Promise<ForkPlan>;
  /**
   * Lets the execution go on where it failed or was cancelled: the same execution, under the same id, in one commit. Steps that failed have
   * all their attempts again, under the idempotency keys that they had; steps that were in flight when it was cancelled are performed again.
   * Completed steps are not. Of a map that failed, every item that failed is tried again. A wait that was not answered in time has its whole
   * time again, and waits keep their ids, so links to them work again.
   *
   * If no step had failed (an output, a join or a condition made it fail), that is judged again: after a change of the metadata, or with
   * another `definition`.
   *
   * Detached executions that it waited for are waited for again: those that have failed or were cancelled are restarted too (`planRestart`
   * lists them). The parent of this execution is not: if it has gone on meanwhile, it stays there.
   *
   * ```ts
   * await run.result().catch(() => undefined); // EXECUTION_FAILED: the card was refused
   * await run.restart({ compensated: "again", idempotencyKey: "click-17" }); // { applied: true, reason: "restarted" }
   * await run.result();
   * ```
   *
   * Safe to repeat: a call that finds that an earlier one has restarted the execution changes nothing, and says so.
   *
   * @throws StepfoldError `FORK_REFUSED` if it has not ended or has completed without a restart, if it would fail again at once, if a
   * detached execution that it waited for is just ending, or if it was restarted with another definition than the one given;
   * `RESTART_COMPENSATED` if steps were undone and `compensated` is not given; `DEFINITION_CHANGED` if another `definition` lacks a node
   * where a path stands; `WORKFLOW_NOT_FOUND`, `DEFINITION_UNKNOWN`, `OPTION_INVALID`, `OUTCOME_UNKNOWN`
   */
  restart<const W extends ImportedWorkflow>(options: WithImported<RestartOptions, W>): Promise<RestartOutcome>;
  restart(options?: RestartOptions): Promise<RestartOutcome>;
  /** Returns what `restart` would do. Changes nothing. */
  planRestart<const W extends ImportedWorkflow>(options: WithImported<RestartOptions, W>): Promise<ForkPlan>;
  planRestart(options?: RestartOptions): Promise<ForkPlan>;
  /** Adds an item to the open map at a node. @throws StepfoldError `MAP_CLOSED`, `INPUT_INVALID`, ... */
  addItem(step: string, item: unknown, options?: Asked): Promise<void>;
  /** Closes the open map at a node: it takes no more items. @throws StepfoldError `MAP_CLOSED`, ... */
  closeMap(step: string, options?: Asked): Promise<void>;
  /** Completes the map at a node with the finished items; items in flight are cancelled. @throws StepfoldError `MAP_CLOSED`, ... */
  completeMap(step: string, options?: Asked): Promise<void>;
}

/** Returns the target that a place means in a command; undefined if the place names nothing. */
export function targetOf({ step, item, waitId, pathId }: Place): Target | undefined {
  if (waitId !== undefined) return { waitId };
  if (pathId !== undefined) return { pathId };
  if (step === undefined) return undefined;
  return item === undefined ? step : { node: step, item };
}
