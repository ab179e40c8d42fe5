import type { Context, NodeResult, Resumed } from "../../core/snapshot/snapshot.ts";
import type { Duration } from "../../core/values/duration.ts";
import type { EpochMs, Json, JsonSchema } from "../../core/values/json.ts";

/** How long and for what a step waits. */
export interface SuspendOptions {
  /** When the step runs again by itself, with `resumed.by = "timer"`. */
  readonly resumeAt?: EpochMs | undefined;
  /** How long an answer is good for: afterwards the path leaves by the handle `timeout`, else `error`, else it fails. */
  readonly timeout?: Duration | undefined;
  /** What the payload must look like; overrides the node definition's `resume`. */
  readonly schema?: JsonSchema | undefined;
  /** Waits for a signal of this name instead of an answer. */
  readonly signal?: string | undefined;
  /** With `signal`: only one that is sent with the same key. */
  readonly key?: string | undefined;
  /** With `signal`: one that was sent before does not count. Default: the oldest that nobody has taken does. */
  readonly transient?: boolean | undefined;
  /** Who may answer. Default: anybody. */
  readonly responders?: readonly string[] | undefined;
  /** Answers of different responders that are needed. Default: one. */
  readonly quorum?: number | undefined;
  /**
   * With `quorum`: name of a boolean member of the answer. Only answers where it is true count, and the wait is over
   * too when the others leave too few to reach the quorum.
   */
  readonly tally?: string | undefined;
}

/**
 * What a compensation is to undo. `completed: true`: the step ended well, with this output. `completed: false`: its executor was
 * called, but it failed for good, was aborted, or was under way when the execution ended: it may or may not have had its effect.
 * Of a step whose executor was never called nothing is undone.
 *
 * ```ts
 * const { compensating } = step;
 * if (compensating?.completed) await cancelBooking(compensating.output);
 * else await cancelBookingIfAny(step.workflowId); // nobody knows whether there is one
 * ```
 */
export type Compensating = { readonly completed: true; readonly output: Json | null } | { readonly completed: false };

/** What an executor is told about the step it performs, and what it can do beside returning. */
export interface StepContext<Resume = unknown, Globals = unknown> {
  readonly workflowId: string;
  readonly nodeId: string;
  readonly pathId: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** The same for every attempt and resume of this visit, and for all that undoes one step; pass it to the service you call, so that a repeat is known as one. */
  readonly idempotencyKey: string;
  /** What the nodes had produced when this attempt began. */
  readonly context: Context;
  /** The variables, by name, as they were when the path came to this node: `vars` in expressions. An output's `vars` sets them. */
  readonly vars: Readonly<Record<string, Json>>;
  /** What the execution was started with. */
  readonly input: Json | undefined;
  /** What the path came with, `$json` in expressions: the output of the step before; of the first step, the input; null if there is none. */
  readonly incoming: Json | null;
  /** The payload, when this call answers a suspension. */
  readonly externalPayload: Resume | undefined;
  /** At a node where branches were joined: the results they came with, in the order of the incoming edges. */
  readonly inputs: readonly NodeResult[] | undefined;
  /** In a compensation: what it is to undo. */
  readonly compensating: Compensating | undefined;
  /** Why a suspended step runs again. */
  readonly resumed: Resumed | undefined;
  /** Secrets and services, as handed to the engine; never stored. */
  readonly globals: Globals;
  /** Aborted on timeout, cancellation and loss of the claim. */
  readonly signal: AbortSignal;
  /**
   * Suspends the step: it waits for a payload, a signal, or for `resumeAt`. Ends the executor by throwing; once it was
   * called the step is suspended, whatever the executor catches, throws or returns afterwards.
   *
   * @param payload tells the world what is waited for; kept in the snapshot
   * @param options of several, the first that is answered counts, and the others are withdrawn
   */
  readonly suspend: (payload?: unknown, options?: SuspendOptions | readonly SuspendOptions[]) => never;
  /** The time, by the clock that judges this execution's timers. */
  readonly now: () => EpochMs;
  /**
   * Changes metadata of the execution, together with the output: members of the patch take the place of those with the same key, null takes a key
   * away, others stay. Of several calls each works on what those before have made; of two steps the later event does. Of a step that fails, waits or
   * goes on in children nothing is set.
   *
   * ```ts
   * const executor = async (data, step) => {
   *   step.setMetadata({ stage: "paid", draft: null });
   *   return { data };
   * };
   * ```
   *
   * @throws StepfoldError `OPTION_INVALID` unless it is an object; a value that is no JSON, or too large, fails the step
   */
  readonly setMetadata: (patch: Readonly<Record<string, unknown>>) => void;
  /** Tells plugins that the step is alive, and how far it is. Where the node has a `heartbeatTimeout`, it has to be called that often. */
  readonly heartbeat: (progress?: unknown) => void;
}
