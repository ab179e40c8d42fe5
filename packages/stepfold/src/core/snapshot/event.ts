import type { ErrorInfo } from "../errors/error-info.ts";
import type { SchemaIssue } from "../errors/schema-issue.ts";
import type { EpochMs, Json } from "../values/json.ts";
import type { Permit, Rate } from "../values/shared-keys.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { ParentLink } from "./parts/lineage.ts";
import type { ChildStart, RootCancel, RootStart, ScheduledBy, SignalBroadcast, SignalSend } from "./parts/message.ts";
import type { Spawn } from "./parts/spawn.ts";
import type { UndoneBy } from "./parts/undone-by.ts";
import type { Wait } from "./parts/wait.ts";
import type { GivenTime, KeptSignal, NodeResult, Parked, Snapshot, Undo } from "./snapshot.ts";

/** What every event has. */
interface Stamp {
  /** The version of the snapshot that this event makes. */
  readonly version: number;
  /** When it happened. */
  readonly at: EpochMs;
  /** About how many bytes the values of the event have as JSON. The size of the execution grows by them. Absent: none. */
  readonly sizeBytes?: number;
  /** What happened at other places in the same transition. */
  readonly consequences?: Consequences;
  /** Who asked for it, according to the caller. Only of a start, a restart, and of commands from outside. */
  readonly who?: string;
}

/** What an event in one scope has. */
interface Placed extends Stamp {
  /** Key of the child in which the event happened; absent for the execution itself. */
  readonly scope?: string;
}

/** What the event of an attempt has. */
interface Step extends Placed {
  readonly pathId: string;
  /** The turn of the path that the attempt belongs to. If the path has another turn meanwhile, the event does not apply. */
  readonly turn: number;
  readonly nodeId: string;
  readonly attempt: number;
  readonly startedAt: EpochMs;
  /** What this step undoes, if it is a compensation. */
  readonly undoes?: Undo;
}

/** What an event caused at other places. */
export interface Consequences {
  /** Results without an event of their own: of a map or sub-workflow that ended, of a join that failed, of a step that an answer skips. */
  readonly results?: readonly PlacedResult[];
  /** Paths that were cancelled one by one, or came late to a join. Paths that end together with their whole scope are not listed. */
  readonly ended?: readonly EndedPath[];
}

/** A result, and the node it belongs to. */
export interface PlacedResult {
  readonly scope?: string;
  readonly nodeId: string;
  readonly result: NodeResult;
}

/** A path that ended early, while its scope goes on. */
export interface EndedPath {
  readonly scope?: string;
  readonly pathId: string;
  readonly nodeId: string;
  /** `late`: the join had fired without this path. `cancelled`: a command or the `cancels` of another node ended it. */
  readonly reason: "late" | "cancelled";
}

/** The execution begins. Always version 0. */
export interface StartedEvent extends Stamp {
  readonly type: "started";
  readonly workflowId: string;
  readonly definition: { readonly id: string; readonly hash: string };
  /** Random; only with a store, which needs it to tell two executions with the same id apart. */
  readonly incarnation?: string;
  /** Id of the first node. */
  readonly nodeId: string;
  readonly input?: Json;
  readonly metadata: Readonly<Record<string, Json>>;
  readonly tenant?: string;
  /** The definition was passed to `start`: it is not one that the host has registered by name. */
  readonly unnamed?: true;
  /** A payload for the first node, which runs as if it were resumed with this payload. */
  readonly payload?: Json;
  readonly parent?: ParentLink;
  readonly scheduledBy?: ScheduledBy;
  /** The first node is not performed before this time. */
  readonly startAt?: EpochMs;
  readonly permit?: Permit;
  readonly rate?: Rate;
  /** The task queue of the execution. Absent: the default one. */
  readonly taskQueue?: string;
  /** The deadline of the execution. Absent: it has none. */
  readonly deadlineAt?: EpochMs;
  /** As in the head. */
  readonly givenTime?: GivenTime;
  /** The state that is taken over from another execution. It takes the place of one path at `nodeId`. */
  readonly checkpoint?: Checkpoint;
}

/**
 * The executor of a step that can be undone is about to be called. The event is stored before the call, so that at the end of the execution
 * it is known which steps may have had an effect and which never ran.
 */
export interface BegunEvent extends Placed {
  readonly type: "begun";
  readonly pathId: string;
  readonly turn: number;
  readonly nodeId: string;
  /** What undoes the step, if code has asked for it. */
  readonly undo?: UndoneBy;
}

/** A step completed. */
export interface CompletedEvent extends Step {
  readonly type: "completed";
  readonly output: Json;
  /** The visit of the node, from which its idempotency key is made. Only if the node has a `compensate`; absent in older histories. */
  readonly visit?: number;
  /** What undoes the step, if code has asked for it. */
  readonly undo?: UndoneBy;
  /** Handles by which the path leaves. Absent: the default handle. */
  readonly handles?: readonly string[];
  /** The step ends its scope: all other paths of the scope end too. */
  readonly terminates?: true;
  /** A detached execution that the step starts and does not wait for. */
  readonly starts?: ChildStart;
  /** Messages to executions that are not children of this one. Only steps of schedules send them. */
  readonly sends?: readonly (RootStart | RootCancel)[];
  /** The variables of the scope that the step has changed, by name, each with its whole new value. */
  readonly variables?: Readonly<Record<string, Json>>;
  /**
   * Variables of the scope that are lists, by name, each with the items that the step has added at the end of the latest value. So a long
   * list is not written again with each item.
   */
  readonly appended?: Readonly<Record<string, readonly Json[]>>;
  /** The whole new metadata of the execution, if the step has changed it. */
  readonly metadata?: Readonly<Record<string, Json>>;
}

/**
 * A step has ended the run of an execution, which goes on with its next run (`continueAs`): at the first node, with a new input and no
 * results. What is carried over is in the event, so the history of a run can be read without that of the runs before.
 */
export interface ContinuedEvent extends Step {
  readonly type: "continued";
  /** Number of the run that begins; the first run has the number 1. */
  readonly run: number;
  /** What the head counts over all runs (`Run.quick`, `SnapshotHead.restarts`, ...). */
  readonly quick?: number;
  readonly restarts?: number;
  readonly descendants?: number;
  readonly totalExecutionTime: number;
  /** The definition that the run follows. */
  readonly definition: { readonly id: string; readonly hash: string };
  readonly firstNodeId: string;
  readonly input?: Json;
  readonly deadlineAt?: EpochMs;
  /** As in the head. */
  readonly givenTime?: GivenTime;
  /** The first node is not performed before this time, because too many runs have begun within a short time. */
  readonly startAt?: EpochMs;
  readonly metadata: Readonly<Record<string, Json>>;
  /** Signals that no step has waited for. */
  readonly inbox?: readonly KeptSignal[];
  /** Messages that are still to be delivered, also those that cancel what the run before waited for. */
  readonly outbox?: Snapshot["outbox"] & object;
  /** The latest values of the variables. */
  readonly variables?: Readonly<Record<string, Json>>;
}

/**
 * An execution that has failed or was cancelled goes on where it failed: these are its paths, children and waits then. Results are not in
 * the event, because they are in the history before it.
 */
export interface RestartedEvent extends Stamp {
  readonly type: "restarted";
  readonly definition: { readonly id: string; readonly hash: string };
  readonly state: RestartState;
  readonly deadlineAt?: EpochMs;
  /** As in the head. */
  readonly givenTime?: GivenTime;
  /** Steps that were undone count as not undone. */
  readonly dropsCompensations?: true;
  /** With `dropsCompensations`: results after this version are not seen any more. */
  readonly since?: number;
  readonly idempotencyKey?: string;
}

/** What a restart opens again. Without `variables`, the execution has those that it ended with; with `since`, none. */
export type RestartState = Pick<
  Snapshot,
  "activePaths" | "childStates" | "mapItems" | "rounds" | "begun" | "closing" | "inbox" | "outbox" | "variables" | "sizeBytes"
>;

/** An attempt failed. `retryAt` is the time of the next attempt; null if there is none. */
export interface FailedEvent extends Step {
  readonly type: "failed";
  readonly error: ErrorInfo;
  readonly retryAt: EpochMs | null;
  /** With `retryAt`: the next attempt is a new visit of the node, without the payload with which this visit was resumed. */
  readonly anew?: true;
  /**
   * The edge by which the path leaves: `timeout` only after a step timeout. Absent if there is no such edge or if a limit of the execution
   * was passed: unless there is a retry or an incident, the execution fails.
   */
  readonly handle?: "timeout" | "error";
  /** Instead of failing, the path stays and waits for a decision. */
  readonly incident?: true;
  /** For a step that can be undone: this attempt or an earlier one may have had an effect. Absent: the executor was never called. */
  readonly begun?: true;
}

/** A step suspends, and waits. */
export interface SuspendedEvent extends Step {
  readonly type: "suspended";
  readonly waits: readonly Wait[];
  /** The detached execution that the step starts and whose end it waits for. */
  readonly starts?: ChildStart;
  /** The signal that the step sends and whose arrival it waits for. */
  readonly signal?: SignalSend | SignalBroadcast;
  /** The schemas that the waits name as `typeSchema` and that the snapshot does not hold yet. */
  readonly schemas?: Snapshot["schemas"];
}

/**
 * The code of a node has refused an answer that was accepted before. Nothing was performed. The same waits are open again, with new ids and
 * the same deadlines.
 */
export interface AnswerRefusedEvent extends Step {
  readonly type: "answerRefused";
  /** The wait that had been answered. */
  readonly waitId: string;
  /**
   * Version of the event with the answer. If the answer had an idempotency key, that key may be used again. Absent for a signal that had
   * come before the wait.
   */
  readonly answer?: number;
  /** Who had answered, according to the caller. */
  readonly who?: string;
  readonly issues: readonly SchemaIssue[];
}

/** A step starts children and waits for them: a sub-workflow, or the items of a map. */
export interface SpawnedEvent extends Step {
  readonly type: "spawned";
  /** Visit of the path. `pathId#visit` is the key of the children. */
  readonly visit: number;
  readonly children: Spawn;
}

/**
 * A wait was answered, its time came, the execution that it waited for has ended, or the signal of the step has arrived or cannot arrive.
 * The wait is then over, unless it needs more answers (`Wait.quorum`).
 */
export interface ResumedEvent extends Placed {
  readonly type: "resumed";
  readonly pathId: string;
  readonly waitId: string;
  /** With an idempotency key: the id under which the wait was first open, if it has another one now. */
  readonly firstId?: string;
  readonly by: "payload" | "timer" | "child" | "delivery";
  readonly payload?: Json;
  /** The idempotency key that the caller gave for this answer. */
  readonly idempotencyKey?: string;
  /** With an idempotency key: the node whose wait was answered. */
  readonly nodeId?: string;
}

/** A signal came. The oldest wait for it takes it; if there is none, the inbox keeps it. */
export interface SignalledEvent extends Stamp {
  readonly type: "signalled";
  readonly name: string;
  readonly key?: string;
  readonly payload?: Json;
  /** Until when the inbox keeps it. */
  readonly expiresAt: EpochMs;
  /** The idempotency key that the caller gave for this signal. */
  readonly idempotencyKey?: string;
}

/** A wait was not answered in time. */
export interface TimedOutEvent extends Placed {
  readonly type: "timedOut";
  /** What the step undoes, if it is a compensation. */
  readonly undoes?: Undo;
  readonly pathId: string;
  readonly nodeId: string;
  readonly attempt: number;
  readonly waitId: string;
  readonly error: ErrorInfo;
  /**
   * The edge by which the path leaves. Absent if there is no such edge: the step fails. If the wait was for children, they may be started
   * again first (a retry).
   */
  readonly handle?: "timeout" | "error";
}

/** The deadline of the execution, or of one of its children, has passed: it fails. */
export interface ExpiredEvent extends Placed {
  readonly type: "expired";
}

/** A pending retry is made at once. */
export interface RetriedEvent extends Placed {
  readonly type: "retried";
  readonly pathId: string;
}

/** The execution, one of its children, or some paths were cancelled. */
export interface CancelledEvent extends Placed {
  readonly type: "cancelled";
  readonly reason?: string;
  /** Only these paths are cancelled. Absent: everything in `scope`. */
  readonly pathIds?: readonly string[];
}

/** An open map got another item. */
export interface ItemAddedEvent extends Placed {
  readonly type: "itemAdded";
  readonly pathId: string;
  readonly item: Json;
}

/** A map is closed and gets no more items. With `completes` it is complete at once, and items in progress are cancelled. */
export interface MapClosedEvent extends Placed {
  readonly type: "mapClosed";
  readonly pathId: string;
  readonly completes?: true;
}

/** Messages to other executions were delivered. */
export interface DeliveredEvent extends Stamp {
  readonly type: "delivered";
  /** Ids of the messages. */
  readonly ids: readonly string[];
}

/** The execution could not be driven: it is parked until a time, or until a `retry` or `cancel` command. */
export interface ParkedEvent extends Stamp, Parked {
  readonly type: "parked";
}

/** A `retry` command came: a parked execution may be driven again. */
export interface UnparkedEvent extends Stamp {
  readonly type: "unparked";
}

/** A command has changed the metadata of the execution. */
export interface MetadataSetEvent extends Stamp {
  readonly type: "metadataSet";
  /** The whole new metadata. */
  readonly metadata: Readonly<Record<string, Json>>;
  /** The idempotency key that the caller gave for this change. */
  readonly idempotencyKey?: string;
}

/** One thing that happened, as data. There is exactly one event for each version. Folding the events of an execution gives its snapshot. */
export type Event =
  | StartedEvent
  | BegunEvent
  | CompletedEvent
  | ContinuedEvent
  | RestartedEvent
  | FailedEvent
  | SuspendedEvent
  | AnswerRefusedEvent
  | SpawnedEvent
  | ResumedEvent
  | SignalledEvent
  | TimedOutEvent
  | ExpiredEvent
  | RetriedEvent
  | CancelledEvent
  | ItemAddedEvent
  | MapClosedEvent
  | DeliveredEvent
  | ParkedEvent
  | UnparkedEvent
  | MetadataSetEvent;
