import type { ErrorInfo } from "../errors/error-info.ts";
import type { EpochMs, Json, JsonSchema } from "../values/json.ts";
import type { Permit, Rate } from "../values/shared-keys.ts";
import type { AnsweredKey } from "./answered-key.ts";
import type { InEvents } from "./in-events.ts";
import type { ChildEnd, Message, ScheduledBy } from "./message.ts";
import type { Refusal } from "./refusal.ts";
import type { Variables } from "./variables.ts";

/** Where an execution stands as a whole. The last three are terminal. Why one is `parked`, whatever its paths are, is told beside. */
export type Status = "active" | "paused" | "error" | "parked" | "completed" | "failed" | "cancelled";

/** What every node has produced, by node id, oldest first. */
export type Context = Readonly<Record<string, readonly NodeResult[]>>;

/** The result of one attempt of a node. */
export interface NodeResult {
  readonly output: Json | null;
  /** When it ended. */
  readonly timestamp: EpochMs;
  /** 1 for the first. */
  readonly attempt: number;
  /** Message of the error it ended with. */
  readonly error?: string;
  readonly pathId: string;
  /** Version of the snapshot that first held it. */
  readonly version: number;
}

/** One answer to a wait that wants several. */
export interface Answer extends InEvents {
  readonly by: string;
  readonly at: EpochMs;
  readonly payload?: Json;
}

/** What a suspended path waits for. Of several waits of one path the first that is answered withdraws the others. */
export interface Wait extends InEvents {
  /** `pathId@turn`, in a child with the child's key before it; never used twice in an execution. */
  readonly id: string;
  /**
   * `external`: a payload from outside. `signal`: a signal by its name. `timer`: only time. `child`: an execution of its own. `incident`: a
   * decision about a step that has failed for good; its payload is `{ error, attempt }`, and its answer an `IncidentAnswer`. `children`: the
   * sub-workflow or items of the path, which have to end by `timeoutAt`. `delivery`: the arrival of the signal `{ workflowId, signal, key? }`,
   * or, without `workflowId`, of one to all that wait for it.
   */
  readonly kind: "external" | "signal" | "timer" | "child" | "incident" | "children" | "delivery";
  /** What the step suspended with: for those who answer. */
  readonly payload?: Json;
  /** What a resume payload must look like. */
  readonly schema?: JsonSchema;
  /**
   * What the type of the node says about the payload: the id of a JSON Schema in `schemas` of the snapshot, or `code`, if only its code can tell. Absent:
   * nothing. Where the wait has a schema of its own, that decides first.
   */
  readonly typeSchema?: string;
  /** Why the last answer does not count. */
  readonly refused?: Refusal;
  /** Name of the signal. */
  readonly signal?: string;
  /** Only a signal with the same key is meant. */
  readonly key?: string;
  /** It is the time before the step begins: its node is performed as if there had been no wait. */
  readonly begins?: true;
  /** A signal that came before the wait was open does not count. */
  readonly transient?: true;
  /** Since when it is open. Absent: an earlier version has opened it. */
  readonly openedAt?: EpochMs;
  /** When the step runs again by itself. */
  readonly resumeAt?: EpochMs;
  /** The deadline of the wait: the path then leaves by the handle `timeout`. */
  readonly timeoutAt?: EpochMs;
  /** Who may answer. Absent: anybody. */
  readonly responders?: readonly string[];
  /** Answers of different responders that it takes. */
  readonly quorum?: number;
  /** Name of a boolean member of the payload: only answers where it is true count for the quorum. */
  readonly tally?: string;
  /** Those that came so far, where it takes several. */
  readonly answers?: readonly Answer[];
  /** The execution that it waits for. */
  readonly workflowId?: string;
}

/** What opens again if the code of the node refuses an answer. */
export interface Reopening {
  /** The wait that was answered. */
  readonly waitId: string;
  /** All waits of the path, as they were before the answer, without the payload, which they share. */
  readonly waits: readonly Wait[];
  /** Version of the answer; absent for a signal that came before the wait. */
  readonly version?: number;
}

/** Why a suspended step runs again. */
export interface Resumed extends InEvents {
  readonly by: "payload" | "signal" | "timer" | "child" | "delivery";
  readonly payload?: Json;
  /** What the step had suspended with. */
  readonly suspendPayload?: Json;
  /** Name of the signal that came. */
  readonly signal?: string;
  /** Key that it was sent with. */
  readonly key?: string;
  /** Who answered, as told. */
  readonly who?: string;
  /** The schema of the payload, if it is not checked yet: a signal came before the step waited for it. */
  readonly schema?: JsonSchema;
  /** All answers, where the wait took several. */
  readonly answers?: readonly Answer[];
  /** Only where the code of the node may refuse the payload. */
  readonly reopens?: Reopening;
}

/** The result of a node, by the version that added it. */
export interface ResultRef {
  readonly nodeId: string;
  readonly version: number;
}

/** The children of a path at a `map` or `workflow` node. */
export interface ChildrenState {
  /** `id#visit` of the path that began them. A child's own key is this, for an item of a map with `/` and its index. */
  readonly key: string;
  /** The definition they run. */
  readonly workflow: string;
  /** Absent: one child, whose output is the node's. */
  readonly map?: MapState;
}

/** How far a map is. */
export interface MapState {
  /** Items so far. */
  readonly total: number;
  /** Index of the next item to begin. */
  readonly next: number;
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Items in progress at once; an item that waits for an answer or a signal does not count. */
  readonly concurrency: number;
  /** Items may still be added. */
  readonly open?: true;
  /** The map is complete with so many items done. */
  readonly completeWhen?: number;
  /** What happens to the other items then. */
  readonly remaining: "finish" | "cancel";
  /** Items that may fail: a number, or a share of all below 1. */
  readonly tolerated: number;
}

/** One place where an execution stands. */
export interface ActivePath {
  /** Never changes, never used again: `0`, and `0.1` for the first fork of it. */
  readonly id: string;
  readonly nodeId: string;
  /** `joining`: waits for other branches. `held`: waits for its turn (`mutex`) or its moment (`when`). */
  readonly status: "ready" | "held" | "joining" | "retrying" | "suspended";
  /** Rises whenever anything happens to the path; `id@turn` names one task. */
  readonly turn: number;
  /** The turn at which it arrived at its node. */
  readonly visit: number;
  /** Failed attempts of the step as it stands. */
  readonly attempts: number;
  /** Version of the snapshot at which it arrived. */
  readonly since: number;
  readonly forks?: number;
  /** The edge it came by. */
  readonly via?: string;
  /** The visits of fork nodes that it belongs to, by node. */
  readonly waves?: Readonly<Record<string, string>>;
  /** The results that the branches joined here came with. */
  readonly inputs?: readonly ResultRef[];
  readonly waits?: readonly Wait[];
  readonly children?: ChildrenState;
  /** It only stays for its children, and ends with them. */
  readonly draining?: true;
  readonly nextRetryAt?: EpochMs;
  readonly resumed?: Resumed;
  /** The executor of its node was called in this visit, or is about to be: only where the node has a `compensate`. */
  readonly begun?: true;
  /** The result that this path undoes. */
  readonly undoes?: Undo;
  /** The nodes it came through, at most the last 8. */
  readonly stepPath: readonly string[];
}

/** What one compensation undoes. */
export interface Undo {
  /** The child that it happened in. */
  readonly scope?: string;
  readonly pathId: string;
  /** Version of the result; absent if the step had not completed, but may have had its effect. */
  readonly version?: number;
}

/** A step that can be undone and has not completed, although its executor was called: it may have had an effect. */
export interface BegunStep {
  readonly pathId: string;
  readonly nodeId: string;
}

/** A step that is to be undone. */
export interface UndoneStep extends Undo {
  readonly nodeId: string;
}

/** The retry that comes first. */
export interface RetryState {
  readonly nodeId: string;
  /** Attempts made so far. */
  readonly attempts: number;
  readonly nextRetryAt?: EpochMs;
}

/** Paths of a numeric join that may still come, and are no longer needed. */
export interface Round {
  /** Edges that have delivered. */
  readonly got: readonly string[];
}

/** A signal that came before anybody waited for it. */
export interface KeptSignal extends InEvents {
  readonly name: string;
  readonly key?: string;
  readonly payload?: Json;
  readonly expiresAt: EpochMs;
}

/** Why an execution is parked. */
export interface Parked {
  /**
   * `COMPENSATION_FAILED`: it is at its end, but for what could not be undone: `retry` performs those compensations again, `cancel`
   * gives them up. `WORKER_CRASHED`: its workers died. `DEFINITION_MISSING`, `DEFINITION_INVALID`: the worker lacks its definition or node types. */
  readonly code: string;
  readonly message: string;
  /** Since when. */
  readonly at: EpochMs;
  /** When it is tried again by itself. Absent: only after a `retry` command. */
  readonly until?: EpochMs;
}

/** The execution that began this one, and waits for it. */
export interface ParentLink {
  readonly workflowId: string;
  readonly incarnation?: string;
  /** The wait that the end of this execution answers; absent if the parent does not wait. */
  readonly waitId?: string;
  /** How many executions lie around this one. */
  readonly depth: number;
  /** How many executions it may lead to in turn. Absent: as many as the limit `descendants` says. */
  readonly descendants?: number;
}

/** Which execution another one goes on from. */
export interface Origin {
  readonly workflowId: string;
  readonly incarnation?: string;
  /** The last version of it that the new execution has taken over. */
  readonly version: number;
  readonly reason: "fork" | "restart" | "adopt" | "continueAs";
}

/** The end that a scope is coming to: its steps are being undone, or messages are still to be delivered. */
export interface Ending {
  readonly status: "completed" | "failed" | "cancelled";
  /** Where it failed, or stood when it was cancelled. */
  readonly nodeId: string | null;
  readonly error?: ErrorInfo;
  /** Steps that did not complete and may have had their effect: these are undone first. */
  readonly begun: readonly UndoneStep[];
  /**
   * What failed to be undone, and is tried again after a `retry` command: the rest of it, what is being tried first. Empty while
   * messages have to be delivered before.
   */
  readonly again?: readonly UndoneStep[];
}

/** The result of a compensation. */
export interface CompensationResult extends Omit<NodeResult, "pathId"> {
  readonly nodeId: string;
  readonly undoes: Undo;
}

/** What every scope has: the execution itself, a sub-workflow, one item of a map. */
export interface ScopeHead extends InEvents {
  readonly status: Status;
  /** Node of the first open path; of the failure when failed; null when completed. */
  readonly currentNodeId: string | null;
  /** Open paths, in order of creation. */
  readonly activePaths: readonly ActivePath[];
  /** Rises by exactly 1 with every transition of the execution. A child has the version that changed it last. */
  readonly version: number;
  readonly input?: Json;
  /** While the scope is open: of the path that came to an end of the graph last. */
  readonly output?: Json;
  /** By when it must have ended: then it fails, unless its end is decided. */
  readonly deadlineAt?: EpochMs;
  /** What it failed with, or will fail with once its other paths have ended. */
  readonly error?: ErrorInfo;
  /** Numeric joins that have fired and still expect paths, by node and wave. */
  readonly rounds?: Readonly<Record<string, Round>>;
  readonly ending?: Ending;
  /** Steps that failed for good or were aborted, and may have had an effect; of those of one node on one path only one. */
  readonly begun?: readonly BegunStep[];
}

/** A sub-workflow, or one item of a map. One that has ended leaves its status and output until its parent goes on. */
export interface ChildHead extends ScopeHead {
  /** The definition it runs, by its name in `workflows`. */
  readonly workflow: string;
  /** Since this version it is ready and waits for room: its map runs as many items as `concurrency` allows. */
  readonly queued?: number;
  /** It has ended, and its results are kept because they may have to be undone. */
  readonly kept?: true;
  /** It is kept only because something in it could not be undone: its own steps are undone by the node that began it. */
  readonly settled?: true;
}

/** A child with its results. */
export interface ChildState extends ChildHead {
  readonly context: Context;
  readonly variables?: Variables;
}

/** A snapshot without its context, variables and children: what a store rewrites with every commit. */
export interface SnapshotHead extends ScopeHead {
  /** Format of this value. */
  readonly schema: 1;
  readonly workflowId: string;
  readonly definition: { readonly id: string; readonly hash: string };
  /** Yours, set at the start; searchable. */
  readonly metadata: Readonly<Record<string, Json>>;
  /** Whose execution it is, set at the start, and the same for all executions that it begins. */
  readonly tenant?: string;
  readonly retryState?: RetryState;
  /** The execution does not move until a time, or until a `retry` command. It still takes answers and signals. */
  readonly parked?: Parked;
  /** Start of the latest attempt. */
  readonly lastStartedAt?: EpochMs;
  /** Time spent in executors, in milliseconds. */
  readonly totalExecutionTime?: number;
  /** Signals that no step has waited for yet, oldest first. */
  readonly inbox?: readonly KeptSignal[];
  /** Attempts made, in all. */
  readonly steps: number;
  /** About how many bytes of JSON the execution holds: inputs, payloads, and the results that are kept. */
  readonly sizeBytes: number;
  /** About how many bytes of JSON all its events have. Only with a store. */
  readonly historyBytes?: number;
  /** Its deadline was said at its start, and is earlier than by its definition. */
  readonly deadlineGiven?: true;
  /** Its concurrency key and limit, as they were at the start. */
  readonly permit?: Permit;
  /** The rate that its beginning counts for, as it was at the start. */
  readonly rate?: Rate;
  /** Its definition was handed to `start`: it is none that the host has given a name to. */
  readonly unnamed?: true;
  /** When it was started. */
  readonly createdAt?: EpochMs;
  /** Random; tells an execution from a deleted one with the same id. Only with a store. */
  readonly incarnation?: string;
  readonly parent?: ParentLink;
  /** The schedule that started it. */
  readonly scheduledBy?: ScheduledBy;
  /** How it ends: that is decided, and the nodes that run at its end (`finally`) are under way. */
  readonly closing?: ChildEnd & { readonly nodeId: string | null };
  /** The execution that it goes on from: it is a fork or a restart of that. */
  readonly from?: Origin;
  /** It has ended, and goes on as this execution, which holds what it handed over. */
  readonly continuedAs?: { readonly workflowId: string };
  /** Detached executions that it has begun, each with those that it may lead to: what is spent of the limit `descendants`. */
  readonly descendants?: number;
  /** Messages that are still to be delivered, oldest first. An execution does not end before they are. */
  readonly outbox?: readonly Message[];
}

/** Everything an execution knows, as one frozen JSON value. */
export interface Snapshot extends SnapshotHead {
  readonly context: Context;
  /** What its own steps have set; those of its children are in their states. */
  readonly variables?: Variables;
  /** Sub-workflows and items of maps, by key. That of a child's child begins with the child's: `0#1/3>0#2`. */
  readonly childStates?: Readonly<Record<string, ChildState>>;
  /** Items of maps under way, by the key of their path. */
  readonly mapItems?: Readonly<Record<string, readonly Json[]>>;
  /** What was undone, in order. */
  readonly compensations?: readonly CompensationResult[];
  /** The keys under which answers and signals were given, the latest 1,000, oldest first. Only with a store. */
  readonly answered?: readonly AnsweredKey[];
  /** JSON Schemas of payloads, as the types of nodes say them, each once, by the id that waits name. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
}

/** True when no transition can follow. */
export function isTerminal(status: Status): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
