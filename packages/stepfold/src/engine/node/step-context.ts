import type { Resumed } from "../../core/snapshot/parts/wait.ts";
import type { Context, NodeResult } from "../../core/snapshot/snapshot.ts";
import type { Duration } from "../../core/values/duration.ts";
import type { EpochMs, Json, JsonSchema } from "../../core/values/json.ts";

/** How long and for what a step waits. */
export interface SuspendOptions {
  /** When the step runs again by itself, with `resumed.by = "timer"`. */
  readonly resumeAt?: EpochMs | undefined;
  /** How long the step waits for an answer. After that, the path leaves by the handle `timeout`, else by `error`, else it fails. */
  readonly timeout?: Duration | undefined;
  /**
   * What the payload must look like: an answer that does not fit is refused. Before the executor is called with it, the `resume` of the
   * node definition checks the payload too.
   */
  readonly schema?: JsonSchema | undefined;
  /** Waits for a signal of this name instead of an answer. */
  readonly signal?: string | undefined;
  /** With `signal`: only a signal with the same key counts. Absent: only a signal without a key. */
  readonly key?: string | undefined;
  /**
   * With `signal`: true if a signal that came before this wait does not count. Default: the oldest one that fits and that no step has taken
   * counts.
   */
  readonly transient?: boolean | undefined;
  /** Who may answer. Default: anybody. */
  readonly responders?: readonly string[] | undefined;
  /** How many answers of different responders are needed. Default: one. */
  readonly quorum?: number | undefined;
  /**
   * With `quorum`: name of a boolean member of the answer. Only answers where it is true count. The wait also ends when too few responders
   * are left to reach the quorum; without `responders`, when as many answers as the quorum do not count.
   */
  readonly tally?: string | undefined;
}

/**
 * The step that a compensation undoes. `completed: true`: the step completed, with this output. `completed: false`: its executor was
 * called, but the step failed for good, was aborted, or was running or waiting at the end of the scope it is in. So it may or may not have
 * had its effect. A step whose executor was never called is not undone.
 *
 * `idempotencyKey` is the key that the step had when its executor was called, so that the service recognises what it is to undo. It is that of
 * another execution if the step was performed there, before a fork or `adopt`. Absent only for a step that an older version of this library
 * has begun or performed.
 *
 * ```ts
 * const { compensating } = step;
 * if (compensating?.completed) await cancelBooking(compensating.output);
 * else await cancelBookingIfAny(compensating.idempotencyKey); // nobody knows whether there is one
 * ```
 */
export type Compensating =
  | { readonly completed: true; readonly output: Json | null; readonly idempotencyKey?: string }
  | { readonly completed: false; readonly idempotencyKey?: string };

/** What an executor knows about its step, and what it can do in addition to returning. */
export interface StepContext<Resume = unknown, Globals = unknown> {
  /** Id of the execution. */
  readonly workflowId: string;
  readonly nodeId: string;
  /** Name of the path. In a sub-workflow or an item of a map it begins with the key of that: `0#1/3>0`. */
  readonly pathId: string;
  /** The number of this attempt; 1 for the first. */
  readonly attempt: number;
  /** True if a retry policy, of the node or of its type, says whether and when a failed attempt is made again. */
  readonly hasRetryPolicy: boolean;
  /**
   * A key that is the same for every attempt and resume of this visit; in a compensation, for every attempt to undo the same step. Pass it
   * to the service you call, so that the service recognises a repeated call. The key of the undone step is in `compensating`.
   */
  readonly idempotencyKey: string;
  /** What the nodes had produced when this attempt began. In a sub-workflow or an item of a map: only its own nodes. */
  readonly context: Context;
  /** The variables, by name, as they were when the path came to this node: `vars` in expressions. An output's `vars` sets them. */
  readonly vars: Readonly<Record<string, Json>>;
  /** The input of the execution; in a sub-workflow or an item of a map, the input of that. */
  readonly input: Json | undefined;
  /**
   * The value that the path came with, `$json` in expressions: the output of the step before, at a join that of its first branch, or the
   * input at the first step; in a compensation the output of the step that it undoes. Null if there is none.
   */
  readonly incoming: Json | null;
  /**
   * The payload that the step was resumed with: that of an answer or a signal, or the end of the execution or the delivery that it waited
   * for. Undefined if there is none.
   */
  readonly externalPayload: Resume | undefined;
  /** At a node where branches were joined: the results that the branches came with, in the order of the incoming edges. */
  readonly inputs: readonly NodeResult[] | undefined;
  /** In a compensation: the step that it undoes. */
  readonly compensating: Compensating | undefined;
  /** Why a suspended step runs again; undefined if the step has not waited. */
  readonly resumed: Resumed | undefined;
  /** Secrets and services, as handed to the engine; never stored. */
  readonly globals: Globals;
  /** Aborted when the attempt no longer counts: on a timeout, when its path ends (for example cancelled), or this process stops. */
  readonly signal: AbortSignal;
  /**
   * Suspends the step, which then waits for a payload, a signal, or `resumeAt`. It ends the executor by throwing. After this call the step
   * is suspended, whatever the executor catches, throws or returns.
   *
   * @param payload tells people and programs outside what the step waits for; the snapshot keeps it
   * @param options one wait, or several: the first wait that is answered counts, and the others are withdrawn
   */
  readonly suspend: (payload?: unknown, options?: SuspendOptions | readonly SuspendOptions[]) => never;
  /** Returns the time, by the clock that decides about this execution's timers. */
  readonly now: () => EpochMs;
  /**
   * Changes metadata of the execution, together with the output of the step: a member of the patch replaces the value with the same key,
   * null removes the key, and all other keys stay. Several calls of a step add up. If two steps change the metadata, the later event builds
   * on the earlier one. A step that fails, waits, runs children or undoes another step changes nothing.
   *
   * ```ts
   * const executor = async (data, step) => {
   *   step.setMetadata({ stage: "paid", draft: null });
   *   return { data };
   * };
   * ```
   *
   * @throws StepfoldError `OPTION_INVALID` unless the patch is an object; a value that is not JSON, or is too large, makes the step fail
   */
  readonly setMetadata: (patch: Readonly<Record<string, unknown>>) => void;
  /**
   * Tells plugins that the step is alive, and how far it is. If the node has a `heartbeatTimeout`, the step must call this again and again,
   * each time before that time is over: otherwise the attempt fails.
   */
  readonly heartbeat: (progress?: unknown) => void;
}
