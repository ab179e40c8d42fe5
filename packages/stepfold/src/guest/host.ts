import type { ErrorInfo } from "../core/errors/error-info.ts";
import type { Event, StartedEvent } from "../core/snapshot/event.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { Task } from "../core/transition/plan.ts";
import type { EpochMs } from "../core/values/json.ts";
import type { Limits } from "../core/values/limits.ts";
import type { Command } from "../engine/commands/command.ts";
import type { Counted } from "../engine/limits.ts";

/**
 * An engine with a journal of its own, in which executions of Stepfold run as guests. It may repeat its handler from the start at any
 * time. A call whose result is in the journal is not made again: the host returns that result.
 */
export interface GuestHost {
  /**
   * Calls `guest.perform(step)` for each of these steps, at the same time if possible, and returns the results in the order of the steps.
   * The journal keeps each result under the name of its step. If the process of a step dies, the same step is performed again; a step whose
   * result is in the journal is never performed again. Steps and results are plain JSON.
   */
  perform(steps: readonly GuestStep[]): Promise<readonly GuestResult[]>;
  /**
   * Waits for the next message and returns it, or returns null at the time `until`. If `until` is past, it returns a message that has
   * already come, or null at once. If `until` is null, only a message ends the wait. The journal keeps what this method returns.
   */
  wait(until: EpochMs | null, pause: GuestPause): Promise<GuestMessage | null>;
}

/** A step that a guest asks its host to perform and to keep in the journal. Plain JSON. */
export type GuestStep =
  /** Begins the execution: checks its input, and reads the clock. */
  | (Named & { readonly type: "start"; readonly start: GuestStart })
  /** One attempt of one node. */
  | (Named & { readonly type: "attempt"; readonly snapshot: Snapshot; readonly task: Task })
  /** Decides a command: it becomes an event, or it is refused. */
  | (Named & { readonly type: "command"; readonly snapshot: Snapshot; readonly message: GuestMessage });

interface Named {
  /** Unique in the execution, and the same in every replay: `3 charge`. At most 250 characters. */
  readonly name: string;
}

/** The result of a step, for the journal. Plain JSON. A failed node is a result too, because Stepfold makes the retries, not the host. */
export type GuestResult =
  /** Holds the limits and the concurrency too, so that every replay decides the same. */
  | { readonly type: "started"; readonly event: StartedEvent; readonly limits: Limits; readonly concurrency: number }
  /** The outcome of an attempt, from which the handler makes the event. */
  | { readonly type: "performed"; readonly outcome: Counted }
  /** The event of a command. */
  | { readonly type: "decided"; readonly event: Event }
  /** Why a command or the start was refused. */
  | { readonly type: "refused"; readonly error: ErrorInfo };

/** The workflow, the id and the options with which an execution starts. */
export interface GuestStart {
  /** Id of the workflow. */
  readonly workflow: string;
  /** Id of the execution: use the id that the host has for it. The idempotency keys for services are made of it. */
  readonly workflowId: string;
  readonly input?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly tenant?: string;
  /** Default: the definition's `start`, or its one node without an incoming edge. */
  readonly initialNodeId?: string;
}

/** A command that is sent to an execution. A host delivers it at least once. */
export interface GuestMessage {
  /** Two messages with the same id are one: the second is dropped. */
  readonly id: string;
  /** The time at which the command was sent. An answer that was sent in time counts, even if it is taken later because a step took long. */
  readonly at: EpochMs;
  readonly command: Command;
}

/** A pause: what a host gets when an execution waits. */
export interface GuestPause {
  /** The name of the pause in the journal; the same rules as for a step. */
  readonly name: string;
  /** The execution while it waits. `waits(snapshot)` says for people what it waits for. */
  readonly snapshot: Snapshot;
}

/** How an execution has ended. */
export interface GuestEnd {
  readonly workflowId: string;
  readonly status: "completed" | "failed" | "cancelled";
  readonly output?: unknown;
  /** Present if the execution failed, was cancelled, or could not start. */
  readonly error?: ErrorInfo;
}
