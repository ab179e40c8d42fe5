import type { ErrorInfo } from "../errors/error-info.ts";
import type { EpochMs, Json, JsonSchema } from "../values/json.ts";
import type { Permit, Rate } from "../values/shared-keys.ts";
import type { Acted } from "./parts/acted.ts";
import type { AnsweredKey, KeyRows } from "./parts/answered-key.ts";
import type { InEvents } from "./parts/in-events.ts";
import type { Origin, ParentLink, PresentRun } from "./parts/lineage.ts";
import type { ChildEnd, Message, ScheduledBy } from "./parts/message.ts";
import type { UndoneBy } from "./parts/undone-by.ts";
import type { Variables } from "./parts/variables.ts";
import type { Resumed, Wait } from "./parts/wait.ts";

/** All statuses, in the order in which people read them. The last three are terminal. */
export const statuses = ["active", "paused", "error", "parked", "completed", "failed", "cancelled"] as const;

/** The state of a scope. `error`: it waits for a retry. `parked`: see `SnapshotHead.parked`. */
export type Status = (typeof statuses)[number];

/**
 * True for the name of a status, such as a text from a query string.
 *
 * ```ts
 * const status = url.searchParams.getAll("status").filter(isStatus);
 * const { items } = await runtime.list({ status });
 * ```
 */
export function isStatus(value: unknown): value is Status {
  return (statuses as readonly unknown[]).includes(value);
}

/** The results of every node, by node id, oldest first. */
export type Context = Readonly<Record<string, readonly NodeResult[]>>;

/** The result of one attempt of a node. If it failed, `output` is null, or the error if the path left by the edge `error`. */
export interface NodeResult {
  readonly output: Json | null;
  /** When the attempt ended. */
  readonly timestamp: EpochMs;
  /** Number of the attempt; 1 for the first. */
  readonly attempt: number;
  /** Message of the error with which the attempt ended. Absent if it succeeded. */
  readonly error?: string;
  readonly pathId: string;
  /** Version of the snapshot that first held the result. */
  readonly version: number;
  /** The key under which the step has acted. Only of a completed step whose node has a `compensate`; absent in older snapshots. */
  readonly acted?: Acted;
  /** What undoes the step. Only of a step that code has asked for: other steps have a `compensate` in their definition. */
  readonly undo?: UndoneBy;
}

/** A reference to a result: its node, and the version that added it. */
export interface ResultRef {
  readonly nodeId: string;
  readonly version: number;
}

/** The children of a path at a `map` or `workflow` node. */
export interface ChildrenState {
  /** `id#visit` of the path that began the children. Their own keys are this key, for an item of a map with `/` and its index added. */
  readonly key: string;
  /** Name of the workflow that the children run. */
  readonly workflow: string;
  /** The state of the map. Absent: there is one child, and its output becomes the output of the node. */
  readonly map?: MapState;
}

/** The progress of a map. */
export interface MapState {
  /** The number of items so far. */
  readonly total: number;
  /** Index of the next item to begin. */
  readonly next: number;
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
  /** The most items in progress at once. An item that waits (not for a retry, but for an answer, a signal, a time) does not count. */
  readonly concurrency: number;
  /** Items may still be added. */
  readonly open?: true;
  /** The map is complete once this number of items is done. */
  readonly completeWhen?: number;
  /** What happens to the items that have not ended when the map is complete. */
  readonly remaining: "finish" | "cancel";
  /** How many items may fail: a number, or a share of all items, rounded down, if it is below 1. */
  readonly tolerated: number;
  /** By how much turns and forks of items that have not begun are raised, because such items had begun before a restart. */
  readonly ahead?: number;
}

/** One place where an execution stands. */
export interface ActivePath {
  /** Id of the path: `0`, and `0.1` for its first fork. It never changes, and no other path gets it later. */
  readonly id: string;
  readonly nodeId: string;
  /** `joining`: waits at a join. `held`: waits for its turn (`mutex`) or until the condition `when` is true. */
  readonly status: "ready" | "held" | "joining" | "retrying" | "suspended";
  /** Rises whenever anything happens to the path; `id@turn` names one task. */
  readonly turn: number;
  /** The turn at which the path arrived at its node, its join fired, or its children failed and are to begin once more. */
  readonly visit: number;
  /** The number of failed attempts of the current step; 0 again once the step has suspended to wait for an answer, a signal or a time. */
  readonly attempts: number;
  /** Version of the snapshot at which the path arrived at its node, or its join fired. */
  readonly since: number;
  /** How many paths have forked off this one. Absent: none. */
  readonly forks?: number;
  /** The edge by which the path arrived. */
  readonly via?: string;
  /** The waves that the path belongs to: the visit `id#visit` of each fork, by the id of the fork. */
  readonly waves?: Readonly<Record<string, string>>;
  /** At a join: the results that the joined branches brought. */
  readonly inputs?: readonly ResultRef[];
  readonly waits?: readonly Wait[];
  readonly children?: ChildrenState;
  /** The path has nothing to do any more. It stays only until its remaining children have ended. */
  readonly draining?: true;
  readonly nextRetryAt?: EpochMs;
  readonly resumed?: Resumed;
  /** The executor of the node was called in this visit, or is about to be called. Only if the node has a `compensate`. */
  readonly begun?: true;
  /**
   * The key under which the executor was called in the origin of this execution, or before a restart under new keys. Absent once the executor
   * may have been called under the new key.
   */
  readonly acted?: Acted;
  /** The step that this path undoes, if it performs a compensation. */
  readonly undoes?: Undo;
  /** With `begun` or `acted`: what undoes the step, if code has asked for it. */
  readonly undo?: UndoneBy;
  /** The nodes that the path has passed, at most the last 8. */
  readonly stepPath: readonly string[];
}

/** The step that one compensation undoes. */
export interface Undo {
  /** Key of the child in which the step ran; absent for the execution itself. */
  readonly scope?: string;
  readonly pathId: string;
  /** Version of the result; absent if the step had not completed, but may have had its effect. */
  readonly version?: number;
  /** Only without `version`: the key under which the step has acted; absent in older snapshots. */
  readonly acted?: Acted;
  /** What undoes the step, if code has asked for it. */
  readonly undo?: UndoneBy;
}

/** A step that can be undone and has not completed, although its executor was called: it may have had an effect. */
export interface BegunStep {
  readonly pathId: string;
  readonly nodeId: string;
  /** The key under which it has acted; absent in older snapshots. */
  readonly acted?: Acted;
  /** What undoes the step, if code has asked for it. */
  readonly undo?: UndoneBy;
}

/** A step that is to be undone. */
export interface UndoneStep extends Undo {
  readonly nodeId: string;
}

/** The next retry of the execution. */
export interface RetryState {
  readonly nodeId: string;
  /** Attempts made so far. */
  readonly attempts: number;
  readonly nextRetryAt?: EpochMs;
}

/** A numeric join that has fired while more paths may still arrive. Those paths are no longer needed. */
export interface Round {
  /** Edges by which a path has arrived. */
  readonly got: readonly string[];
}

/** A signal that came before a step waited for it. */
export interface KeptSignal extends InEvents {
  readonly name: string;
  readonly key?: string;
  readonly payload?: Json;
  readonly expiresAt: EpochMs;
}

/** Why an execution is parked. */
export interface Parked {
  /**
   * `COMPENSATION_FAILED`: at the end some steps could not be undone. `retry` tries these compensations again, `cancel` gives them up.
   * `WORKER_CRASHED`: its workers died or lost it. `DEFINITION_MISSING`, `_INVALID`, `_CHANGED`: the worker cannot use its definition.
   * `CODE_CHANGED`: the code asks for other steps than those that it has asked for before; it goes on once the right code is back.
   */
  readonly code: string;
  readonly message: string;
  /** When the execution was parked. */
  readonly at: EpochMs;
  /** When workers try again without a command. Absent: never, a `retry` or `cancel` command is needed. */
  readonly until?: EpochMs;
}

/** The end of a scope that is decided but not reached: its steps are being undone, or messages must still be delivered. */
export interface Ending {
  readonly status: "completed" | "failed" | "cancelled";
  /** The node at which the scope failed, or stood when it was cancelled; null if there is none. */
  readonly nodeId: string | null;
  readonly error?: ErrorInfo;
  /** Steps that have not completed and may have had an effect. They are undone first. */
  readonly begun: readonly UndoneStep[];
  /**
   * Steps whose compensations failed and are performed again after a `retry` command: those that are left, the current one first. Empty
   * while messages must be delivered before that. Absent: no compensation has failed.
   */
  readonly again?: readonly UndoneStep[];
}

/** The result of a compensation. */
export interface CompensationResult extends Omit<NodeResult, "pathId"> {
  readonly nodeId: string;
  readonly undoes: Undo;
}

/** The head of a scope: of the execution itself, a sub-workflow, or one item of a map. */
export interface ScopeHead extends InEvents {
  readonly status: Status;
  /** Node of the first open path. After the end: where the scope failed, or stood when it was cancelled; null if it completed. */
  readonly currentNodeId: string | null;
  /** Open paths, in order of creation. */
  readonly activePaths: readonly ActivePath[];
  /** Rises by exactly 1 with every transition of the execution. In a child: the version that changed the child last. */
  readonly version: number;
  readonly input?: Json;
  /** The output of the scope. While it is open: the output of the last path that came to an end of the graph. */
  readonly output?: Json;
  /** The deadline of the scope: it fails at this time, unless its end is decided before. */
  readonly deadlineAt?: EpochMs;
  /** The error with which the scope failed, or will fail once its other paths have ended. */
  readonly error?: ErrorInfo;
  /** Numeric joins that have fired and still expect paths, by the id of the node, `|` and the wave. */
  readonly rounds?: Readonly<Record<string, Round>>;
  readonly ending?: Ending;
  /** Steps that failed for good or were aborted, and may have had an effect; at most one for each key. */
  readonly begun?: readonly BegunStep[];
}

/** A sub-workflow, or one item of a map. The status and output of a child that has ended stay until its parent goes on. */
export interface ChildHead extends ScopeHead {
  /** Name of the workflow that the child runs, as in `workflows`. */
  readonly workflow: string;
  /** The version since which the child is ready but has to wait: its map already runs as many items as `concurrency` allows. */
  readonly queued?: number;
  /** The child has ended, and its results are kept because its steps may have to be undone. */
  readonly kept?: true;
  /** The child is kept only because something in it could not be undone. The scope around it does not undo its steps. */
  readonly settled?: true;
}

/** A child with its results. */
export interface ChildState extends ChildHead {
  readonly context: Context;
  readonly variables?: Variables;
}

/** The time that an execution was given for its whole life, beside the `timeout` of its definition, which holds for each run. */
export interface GivenTime {
  readonly deadlineAt: EpochMs;
  /** How long it is. A restart after the deadline has passed gives the whole time again. */
  readonly timeoutMs: number;
}

/** A snapshot without its children and what the history holds (results, variables, ...): what a store rewrites with every commit. */
export interface SnapshotHead extends ScopeHead {
  /** Format of this value. */
  readonly schema: 1;
  readonly workflowId: string;
  readonly definition: { readonly id: string; readonly hash: string };
  /** Data of the user, set at the start and changeable later; searchable. */
  readonly metadata: Readonly<Record<string, Json>>;
  /** The tenant that owns the execution. It is set at the start, and is the same for all executions that this one starts. */
  readonly tenant?: string;
  readonly retryState?: RetryState;
  /** Present while the execution does not move: until a time, a `retry` or a `cancel`. It still takes answers and signals. */
  readonly parked?: Parked;
  /** Start of the latest attempt. */
  readonly lastStartedAt?: EpochMs;
  /** Time spent in executors, in milliseconds. */
  readonly totalExecutionTime?: number;
  /** Signals that no step has waited for yet, oldest first. */
  readonly inbox?: readonly KeptSignal[];
  /** The number of attempts so far, of all steps. */
  readonly steps: number;
  /** About how many bytes of JSON the execution holds: inputs, payloads, and the results that are kept. */
  readonly sizeBytes: number;
  /** About how many bytes of JSON all events of the execution have. Only with a store. */
  readonly historyBytes?: number;
  /** The time that was given at the start or at a restart: it holds over all runs. */
  readonly givenTime?: GivenTime;
  /** The concurrency key and limit of the execution, as they were at the start. */
  readonly permit?: Permit;
  /** The rate limit for which the start of the execution counts, as it was at the start. */
  readonly rate?: Rate;
  /** The task queue of the execution, as it was at the start. Absent: the default one. */
  readonly taskQueue?: string;
  /** The definition was passed to `start`: it is not one that the host has registered by name. */
  readonly unnamed?: true;
  /** When it was started. */
  readonly createdAt?: EpochMs;
  /** A random text that distinguishes the execution from a deleted one with the same id. Only with a store. */
  readonly incarnation?: string;
  readonly parent?: ParentLink;
  /** The schedule that started it. */
  readonly scheduledBy?: ScheduledBy;
  /** How the execution ends. Present while its end is decided and the nodes that run at its end (`finally`) are running. */
  readonly closing?: ChildEnd & { readonly nodeId: string | null };
  /** The execution from which this one goes on, for example as its fork or restart. */
  readonly from?: Origin;
  /** The present run of an execution that has gone on with `continueAs`. Absent: its first run. */
  readonly run?: PresentRun;
  /** How many times it was restarted after it had failed or was cancelled. Absent: never. */
  readonly restarts?: number;
  /** What is used of the limit `descendants`: the detached executions that this one has started, and those that they may start. */
  readonly descendants?: number;
  /** Where the store keeps the idempotency keys that are not in `answered` any more. Only with a store. */
  readonly keyRows?: KeyRows;
  /** Messages that are still to be delivered, oldest first. An execution does not end before they are delivered. */
  readonly outbox?: readonly Message[];
}

/** The whole state of an execution, as one frozen JSON value. */
export interface Snapshot extends SnapshotHead {
  readonly context: Context;
  /** Variables that steps of the execution itself have set. Those of its children are in `childStates`. */
  readonly variables?: Variables;
  /** Sub-workflows and items of maps, by key. The key of a child's child begins with the key of the child: `0#1/3>0#2`. */
  readonly childStates?: Readonly<Record<string, ChildState>>;
  /** Items of the maps in progress, by the key of their children (`ChildrenState.key`, after the key of the scope). */
  readonly mapItems?: Readonly<Record<string, readonly Json[]>>;
  /** The results of compensations, in the order in which they were performed. */
  readonly compensations?: readonly CompensationResult[];
  /** The latest idempotency keys of answers, signals, restarts and changes of metadata, oldest first. Only with a store. */
  readonly answered?: readonly AnsweredKey[];
  /** JSON Schemas that node types give for payloads, by the id that waits name as `typeSchema`. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
}

/** True when no transition can follow. */
export function isTerminal(status: Status): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
