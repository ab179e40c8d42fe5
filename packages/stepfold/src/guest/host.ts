import type { ErrorInfo } from "../core/errors/error-info.ts";
import type { Event, StartedEvent } from "../core/snapshot/event.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { Task } from "../core/transition/plan.ts";
import type { EpochMs } from "../core/values/json.ts";
import type { Limits } from "../core/values/limits.ts";
import type { Command } from "../engine/commands/command.ts";
import type { Counted } from "../engine/limits.ts";

/**
 * An engine with a journal of its own, in which executions of Stepfold run as guests. It repeats its handler from the start whenever it
 * likes; what its journal has an entry for is not done again, and the entry is given instead.
 */
export interface GuestHost {
  /**
   * Has `guest.perform(step)` called for each of these steps, at the same time if it can, and gives the results in the order of the steps.
   * Each result is kept in the journal under the name of its step. A step whose process died is performed again, with the same step; an
   * answer that was journaled never is. Steps and results are plain JSON.
   */
  perform(steps: readonly GuestStep[]): Promise<readonly GuestResult[]>;
  /**
   * Sleeps until the next message comes, or until a time: the message, or null once the time has come. `until` may be past: then a message
   * that has already come is given, or null at once. Without a time it waits for a message alone. What it gives is kept in the journal.
   */
  wait(until: EpochMs | null, pause: GuestPause): Promise<GuestMessage | null>;
}

/** One thing that a guest asks its host to have done and to write down: plain JSON. */
export type GuestStep =
  /** Begins the execution: checks its input, and reads the clock. */
  | (Named & { readonly type: "start"; readonly start: GuestStart })
  /** One attempt of one node. */
  | (Named & { readonly type: "attempt"; readonly snapshot: Snapshot; readonly task: Task })
  /** Judges a command: it is taken as an event, or refused. */
  | (Named & { readonly type: "command"; readonly snapshot: Snapshot; readonly message: GuestMessage });

interface Named {
  /** Unique in the execution, and the same in every replay: `3 charge`. At most 250 characters. */
  readonly name: string;
}

/** What came of a step, for the journal: plain JSON. A failure of a node is a result too; retries are not up to the host. */
export type GuestResult =
  /** With what decides how the execution goes on, so that a replay decides the same. */
  | { readonly type: "started"; readonly event: StartedEvent; readonly limits: Limits; readonly concurrency: number }
  | { readonly type: "performed"; readonly outcome: Counted }
  | { readonly type: "decided"; readonly event: Event }
  | { readonly type: "refused"; readonly error: ErrorInfo };

/** What an execution begins with. */
export interface GuestStart {
  /** Id of the workflow. */
  readonly workflow: string;
  /** Id of the execution, of which the keys that services are given are made: the id that the host has for it. */
  readonly workflowId: string;
  readonly input?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly tenant?: string;
  /** Default: the definition's `start`, or its one node without an incoming edge. */
  readonly initialNodeId?: string;
}

/** A command on its way to an execution. A binding delivers it at least once. */
export interface GuestMessage {
  /** Two messages with the same id are one: the second is dropped. */
  readonly id: string;
  /** When it was given. An answer that was given in time counts, also if it is taken later because a step took long. */
  readonly at: EpochMs;
  readonly command: Command;
}

/** An execution while it waits. */
export interface GuestPause {
  /** As that of a step. */
  readonly name: string;
  /** For people: `waits(snapshot)` tells what it waits for. */
  readonly snapshot: Snapshot;
}

/** How an execution has ended. */
export interface GuestEnd {
  readonly workflowId: string;
  readonly status: "completed" | "failed" | "cancelled";
  readonly output?: unknown;
  /** Of one that failed, that was cancelled, or that could not begin. */
  readonly error?: ErrorInfo;
}
