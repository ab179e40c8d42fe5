import type { ErrorInfo } from "../errors/error-info.ts";
import type { SchemaIssue } from "../errors/schema-issue.ts";
import type { EpochMs, Json } from "../values/json.ts";
import type { Permit, Rate } from "../values/shared-keys.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { ChildStart, RootCancel, RootStart, ScheduledBy, SignalBroadcast, SignalSend } from "./message.ts";
import type { KeptSignal, NodeResult, Origin, ParentLink, Parked, Snapshot, Undo, Wait } from "./snapshot.ts";

interface Stamp {
  /** The version this event makes. */
  readonly version: number;
  readonly at: EpochMs;
  /** Bytes of JSON that it adds to the execution. */
  readonly sizeBytes?: number;
  /** What happened elsewhere in the same transition. */
  readonly consequences?: Consequences;
}

interface Placed extends Stamp {
  /** Key of the child that it happened in; absent for the execution itself. */
  readonly scope?: string;
}

interface Step extends Placed {
  readonly pathId: string;
  readonly turn: number;
  readonly nodeId: string;
  readonly attempt: number;
  readonly startedAt: EpochMs;
  /** What this step undoes, if it is a compensation. */
  readonly undoes?: Undo;
}

/** What followed from an event at other places. */
export interface Consequences {
  /** Results of other nodes: a map whose last item ended, a join that can no longer have enough branches. */
  readonly results?: readonly PlacedResult[];
  /** Paths that ended although their node did not complete. */
  readonly ended?: readonly EndedPath[];
}

/** A result, and the node it belongs to. */
export interface PlacedResult {
  readonly scope?: string;
  readonly nodeId: string;
  readonly result: NodeResult;
}

/** A path that ended without reaching an end of the graph. */
export interface EndedPath {
  readonly scope?: string;
  readonly pathId: string;
  readonly nodeId: string;
  /** `late`: its join had fired without it. */
  readonly reason: "late" | "cancelled";
}

/** The execution begins. Always version 0. */
export interface StartedEvent extends Stamp {
  readonly type: "started";
  readonly workflowId: string;
  readonly definition: { readonly id: string; readonly hash: string };
  /** Random; only with a store, which needs it to tell two executions with the same id apart. */
  readonly incarnation?: string;
  readonly nodeId: string;
  readonly input?: Json;
  readonly metadata: Readonly<Record<string, Json>>;
  readonly tenant?: string;
  readonly unnamed?: true;
  /** For the first node, as if it were resumed with it. */
  readonly payload?: Json;
  readonly parent?: ParentLink;
  readonly scheduledBy?: ScheduledBy;
  /** The first node is not performed before this. */
  readonly startAt?: EpochMs;
  readonly permit?: Permit;
  readonly rate?: Rate;
  /** By when it must have ended. */
  readonly deadlineAt?: EpochMs;
  /** That was said at the start, and is earlier than by the definition. */
  readonly deadlineGiven?: true;
  /** It goes on from another execution: instead of one path at `nodeId` it has what that held. */
  readonly checkpoint?: Checkpoint;
  /** It goes on from another execution, at the first node, with what that has handed over. */
  readonly carried?: Carried;
}

/** What an execution hands over to the one that it goes on as, beside the input. */
export interface Carried {
  readonly from: Origin;
  /** Signals that no step has waited for. */
  readonly inbox?: readonly KeptSignal[];
  /** The latest values of its variables. */
  readonly variables?: Readonly<Record<string, Json>>;
}

/**
 * The executor of a step that can be undone is about to be called. It is stored before that, so that whoever ends the execution
 * knows which steps may have had an effect, and which never ran.
 */
export interface BegunEvent extends Placed {
  readonly type: "begun";
  readonly pathId: string;
  readonly turn: number;
  readonly nodeId: string;
}

/** A step ended well. */
export interface CompletedEvent extends Step {
  readonly type: "completed";
  readonly output: Json;
  /** Handles it leaves by. Absent: the default one. */
  readonly handles?: readonly string[];
  /** It ends its scope: all other paths end too. */
  readonly terminates?: true;
  /** With `terminates`: the execution goes on as this one. */
  readonly continues?: { readonly workflowId: string; readonly input?: Json };
  /** A detached execution that the step does not wait for. */
  readonly starts?: ChildStart;
  /** What it tells executions that are no children of this one. */
  readonly sends?: readonly (RootStart | RootCancel)[];
  /** What variables of its scope it has changed, by name: their whole new values. */
  readonly variables?: Readonly<Record<string, Json>>;
  /** If it has changed the metadata of the execution: all of it, as it is from now on. */
  readonly metadata?: Readonly<Record<string, Json>>;
}

/** An attempt failed. `retryAt` says whether and when there is another. */
export interface FailedEvent extends Step {
  readonly type: "failed";
  readonly error: ErrorInfo;
  readonly retryAt: EpochMs | null;
  /** With `retryAt`: the next attempt is a new visit, and does not know what this one was resumed with. */
  readonly anew?: true;
  /** The edge that takes the failure. Absent when there is none, or when a limit of the execution was passed: the execution fails. */
  readonly handle?: "error";
  /** Instead: the path stays, and waits for a decision. */
  readonly incident?: true;
  /** Of a step that can be undone: this attempt, or one before it, may have had an effect. Absent: its executor was never called. */
  readonly begun?: true;
}

/** A step waits. */
export interface SuspendedEvent extends Step {
  readonly type: "suspended";
  readonly waits: readonly Wait[];
  /** The execution whose end it waits for. */
  readonly starts?: ChildStart;
  /** The signal that it sends, and whose arrival it waits for. */
  readonly signal?: SignalSend | SignalBroadcast;
  /** What waits name as `typeSchema`, and the execution does not hold yet. */
  readonly schemas?: Snapshot["schemas"];
}

/**
 * The code of a node has refused an answer that was taken without it, or that it took when it was given: nothing was performed, and the
 * same waits are open again, under their next ids, with the same deadlines.
 */
export interface AnswerRefusedEvent extends Step {
  readonly type: "answerRefused";
  /** The wait that had been answered. */
  readonly waitId: string;
  /** Version of the answer. If that had an idempotency key, the key is free again. Absent for a signal that had come before the wait. */
  readonly answer?: number;
  /** Who had answered, as told. */
  readonly who?: string;
  readonly issues: readonly SchemaIssue[];
}

/** A step goes on in children: a sub-workflow, or a map over items. */
export interface SpawnedEvent extends Step {
  readonly type: "spawned";
  /** Of the path; with its id it is the key of the children. */
  readonly visit: number;
  readonly children: Spawn;
}

/** The children that a step asks for. */
export interface Spawn {
  /** The definition they run, by its name in `workflows`. */
  readonly workflow: string;
  /** Input of the one child. */
  readonly input?: Json;
  /** Instead: one child for each item, which is its input. */
  readonly map?: SpawnedMap;
  /** By when they must have ended. */
  readonly timeoutAt?: EpochMs;
}

/** How a map goes through its items. */
export interface SpawnedMap {
  readonly items: readonly Json[];
  readonly concurrency: number;
  readonly open?: true;
  readonly completeWhen?: number;
  readonly remaining: "finish" | "cancel";
  readonly tolerated: number;
}

/** A wait was answered, its time came, the execution that it waited for has ended, or the signal of the step has arrived, or cannot. */
export interface ResumedEvent extends Placed {
  readonly type: "resumed";
  readonly pathId: string;
  readonly waitId: string;
  readonly by: "payload" | "timer" | "child" | "delivery";
  readonly payload?: Json;
  /** Who answered, as told. */
  readonly who?: string;
  /** The caller's key for this answer. */
  readonly idempotencyKey?: string;
  /** With such a key: the node whose wait was answered. */
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
  /** The caller's key for this signal. */
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
  /** The edge that takes it. Absent when there is none: the execution fails. */
  readonly handle?: "timeout" | "error";
}

/** The deadline of the execution, or of one of its children, has passed: it fails. */
export interface ExpiredEvent extends Placed {
  readonly type: "expired";
}

/** A pending retry is to be made at once. */
export interface RetriedEvent extends Placed {
  readonly type: "retried";
  readonly pathId: string;
}

/** The execution, one of its children, or some paths were cancelled. */
export interface CancelledEvent extends Placed {
  readonly type: "cancelled";
  readonly reason?: string;
  /** Only these. Absent: all that `scope` names. */
  readonly pathIds?: readonly string[];
}

/** An open map got another item. */
export interface ItemAddedEvent extends Placed {
  readonly type: "itemAdded";
  readonly pathId: string;
  readonly item: Json;
}

/** An open map gets no more items; with `completes` it goes on at once, without those that are under way. */
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

/** The execution could not be driven: it is parked until a time, or until a `retry` command. */
export interface ParkedEvent extends Stamp, Parked {
  readonly type: "parked";
}

/** A parked execution may be driven again. */
export interface UnparkedEvent extends Stamp {
  readonly type: "unparked";
}

/** Somebody has changed the metadata. */
export interface MetadataSetEvent extends Stamp {
  readonly type: "metadataSet";
  /** All of it, as it is from now on. */
  readonly metadata: Readonly<Record<string, Json>>;
  /** The caller's key for this change. */
  readonly idempotencyKey?: string;
}

/** What happened, as data: exactly one per version. Folding the events of an execution gives its snapshot. */
export type Event =
  | StartedEvent
  | BegunEvent
  | CompletedEvent
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
