import type { CompiledJoin, CompiledWorkflow, JoinEdge } from "../../definition/compiled.ts";
import type { ExecutionFacts } from "../../definition/template.ts";
import type { ErrorInfo } from "../../errors/error-info.ts";
import type { EndedPath, PlacedResult } from "../../snapshot/event.ts";
import type { AnsweredKey, KeyRows } from "../../snapshot/parts/answered-key.ts";
import type { Message } from "../../snapshot/parts/message.ts";
import type { Variables } from "../../snapshot/parts/variables.ts";
import { indexAt, noVariables } from "../../snapshot/parts/variables.ts";
import type { Warning } from "../../snapshot/parts/warning.ts";
import type {
  BegunStep,
  ChildState,
  CompensationResult,
  Context,
  Ending,
  KeptSignal,
  NodeResult,
  Parked,
  Snapshot,
  Status,
} from "../../snapshot/snapshot.ts";
import type { EpochMs, Json } from "../../values/json.ts";
import type { Permit, Rate } from "../../values/shared-keys.ts";
import type { DraftChildren, DraftPath } from "./draft-path.ts";
import type { ListedWaits } from "./listed-waits.ts";
import { Timetable } from "./timetable.ts";

/** The changeable form of a scope. Every path and every join belongs to exactly one scope. For fields without a comment see `ScopeHead`. */
export interface ScopeDraft {
  readonly root: Draft;
  /** The key of the child, such as `0#1/3`; empty for the execution itself. */
  readonly key: string;
  workflow: CompiledWorkflow;
  input: Json | undefined;
  paths: DraftPath[];
  /** The status with which the scope ended; null while it is open, also while it is `ending` or `closing`. */
  ended: "completed" | "failed" | "cancelled" | null;
  /** The id of the node at which the scope failed, or at which it was when it was cancelled; null if there is none. */
  failedNodeId: string | null;
  output: Json | undefined;
  /** Where a large `input` lies in the events or among the items of a map, such as `items/0#2/3` (see `InEvents`). */
  inputInEvents: string | undefined;
  /** Where a large output lies in the events, such as `7/output`. It counts only while its `output` is the output of the scope. */
  outputInEvents: { readonly output: Json; readonly at: string } | undefined;
  deadlineAt: EpochMs | undefined;
  error: ErrorInfo | undefined;
  /** Set while the end is decided but not reached: steps are being undone, or messages must still be delivered. */
  ending: Ending | undefined;
  begun: readonly BegunStep[];
  /** The results by node id. If it is the same object as `borrowed`, it is copied before a result is added. */
  context: Record<string, NodeResult[]>;
  /** The context of the last snapshot, which must not change. A list that `context` shares with it is copied before a result is added. */
  borrowed: Context;
  variables: Variables;
  /** The groups of paths that wait at joins, and of open rounds, by `JoinGroup.key`; null or empty if there are none. */
  groups: Map<string, JoinGroup> | null;
  /** The ids of the paths of steps that code has asked for and that have ended; null until one is needed (see `hasEnded`). */
  endedSteps: Set<string> | null;
}

/** The paths of one wave that wait at one join. */
export interface JoinGroup {
  /** The id of the join's node and the wave, separated by `|`. */
  readonly key: string;
  readonly join: CompiledJoin;
  /** The visit of the join's fork, such as `0#1`; empty if there is none (docs/path-semantics.md, "Waves"). */
  readonly wave: string;
  /** The waiting paths in the order of their arrival. */
  readonly waiting: DraftPath[];
  /** While a join that has fired still expects late paths (a round): the edges by which paths have come; null if no round is open. */
  roundEdges: Set<string> | null;
  /** The number of waiting paths that came by each edge. */
  readonly waitingByEdge: Map<string, number>;
  /** An open path for which the join waited when it was last examined, and the edge by which that path can come; null if none is known. */
  blocker: { readonly path: DraftPath; readonly edge: JoinEdge } | null;
}

/** The changeable form of a child. For fields without a comment see `ChildHead`. */
export interface ChildDraft extends ScopeDraft {
  readonly parent: ScopeDraft;
  readonly workflowName: string;
  /** The index of the item of a map; null for a sub-workflow. */
  readonly item: number | null;
  /** The children of the path that began this child. It stays set when that path no longer waits (see `waitingPathOf`); null if unknown. */
  siblings: DraftChildren | null;
  /** The status with which the child is counted in `siblings`; `updateCounters` sets it. */
  status: Status;
  /** The version since which the item is ready, but waits because its map already runs as many items as it may; else null. */
  queued: number | null;
  kept: boolean;
  settled: boolean;
  version: number;
}

/**
 * The changeable form of an execution, for turns, commands and replays. It begins with `started` or is opened from a snapshot, takes any
 * number of events, and is closed into snapshots. An event costs about as much as what it changes. Other fields: see `Snapshot`.
 */
export interface Draft extends ScopeDraft {
  readonly workflowId: string;
  definition: { readonly id: string; readonly hash: string };
  metadata: Readonly<Record<string, Json>>;
  readonly tenant: string | undefined;
  readonly unnamed: true | undefined;
  readonly createdAt: EpochMs | undefined;
  readonly incarnation: string | undefined;
  readonly parent: Snapshot["parent"];
  readonly scheduledBy: Snapshot["scheduledBy"];
  readonly from: Snapshot["from"];
  givenTime: Snapshot["givenTime"];
  readonly permit: Permit | undefined;
  readonly rate: Rate | undefined;
  readonly taskQueue: string | undefined;
  closing: Snapshot["closing"];
  run: Snapshot["run"];
  restarts: number;
  /** Called by `noteFailure`. Null, except in a replay that looks for what a restart opens again. */
  onFailure: ((scope: ScopeDraft, path: DraftPath | null) => void) | null;
  version: number;
  lastStartedAt: EpochMs | undefined;
  totalExecutionTime: number | undefined;
  steps: number;
  sizeBytes: number;
  descendants: number;
  /** The approximate size of all events in bytes; `committedHistoryBytes`: of the events up to the last commit. */
  historyBytes: number;
  committedHistoryBytes: number;
  answered: AnsweredKey[];
  keyRows: KeyRows | undefined;
  schemas: Snapshot["schemas"];
  inbox: readonly KeptSignal[];
  outbox: readonly Message[];
  parked: Parked | undefined;
  compensations: CompensationResult[];
  /** Every child by its key. A `ChildState` is a child of the snapshot that was not opened for changes, or the rest of an ended child. */
  children: Map<string, ChildDraft | ChildState>;
  mapItems: Map<string, readonly Json[]>;
  /** The number of children that have not ended. */
  openChildren: number;
  /** The children with the status `active` or `error` that are not queued: only these can have tasks. */
  awake: Set<ChildDraft>;
  /** The earliest timer or deadline of each open child that has one. */
  timers: Timetable;
  /** The keys of the children that have changed since the snapshot or the last commit. */
  changed: Set<string>;
  /** The scopes that hold older values of a variable besides the latest one, for `releaseVariables`; null until there is such a scope. */
  scopesWithOldValues: Set<ScopeDraft> | null;
  /** The keys of the children that were deleted since the last commit. */
  dropped: string[];
  /** What the last event caused: `results` of other nodes, paths that ended without completing their node, and `warnings`. */
  results: PlacedResult[];
  endedPaths: EndedPath[];
  warnings: Warning[];
  /** The paths, with their nodes, that `exitOf` has sent along an `error` edge in this transition: each may go there only once. */
  errorExits: Set<string> | null;
  /** A counter that rises whenever paths end. If it has risen, the turn looks for running steps whose paths are gone, and aborts them. */
  endedPathCount: number;
  /** The open waits as the store lists them; null before the first commit, and if there is no store. */
  listedWaits: ListedWaits | null;
}

/** The parts of a draft that are about its children. */
type ChildCollections = Pick<Draft, "children" | "mapItems" | "awake" | "timers" | "changed">;

/** Returns empty collections for the children of one draft. */
export function newChildCollections(): ChildCollections {
  return { children: new Map(), mapItems: new Map(), awake: new Set(), timers: new Timetable(), changed: new Set() };
}

/** The empty collections that all executions without children share. They are replaced before anything is put in (see `spawn`). */
export const noChildCollections: ChildCollections = newChildCollections();

type InScope = "workflow" | "input" | "inputInEvents" | "deadlineAt";

/** The fields that are given when the draft of an execution is created. They never change, except the metadata. */
export type DraftIdentity = Pick<
  Draft,
  | InScope
  | ("workflowId" | "definition" | "metadata" | "tenant" | "unnamed" | "createdAt" | "incarnation" | "parent" | "scheduledBy")
  | ("from" | "permit" | "rate" | "taskQueue")
>;

/** The fields of a child that never change. */
export type ChildIdentity = Pick<ChildDraft, InScope | "root" | "key" | "parent" | "workflowName" | "item">;

/** Returns the draft of an execution before its first event, `started`. */
export function newDraft(about: DraftIdentity): Draft {
  return new ExecutionDraft(about);
}

/** Returns the draft of a child that has no path yet. */
export function newChild(about: ChildIdentity): ChildDraft {
  return new ChildScopeDraft(about);
}

const noSteps: readonly BegunStep[] = Object.freeze([]);

// Only this file creates drafts, and each draft has all fields in the same order: JavaScript engines access objects of one shape faster.
class BaseScopeDraft {
  workflow: ScopeDraft["workflow"];
  input: ScopeDraft["input"];
  inputInEvents: ScopeDraft["inputInEvents"];
  deadlineAt: ScopeDraft["deadlineAt"];
  paths: DraftPath[] = [];
  ended: ScopeDraft["ended"] = null;
  failedNodeId: ScopeDraft["failedNodeId"] = null;
  output: ScopeDraft["output"] = undefined;
  outputInEvents: ScopeDraft["outputInEvents"] = undefined;
  error: ScopeDraft["error"] = undefined;
  ending: ScopeDraft["ending"] = undefined;
  begun: readonly BegunStep[] = noSteps;
  context: Record<string, NodeResult[]> = {};
  borrowed: ScopeDraft["borrowed"] = {};
  variables: Variables = noVariables;
  groups: ScopeDraft["groups"] = null;
  endedSteps: ScopeDraft["endedSteps"] = null;

  constructor({ workflow, input, inputInEvents, deadlineAt }: Pick<ScopeDraft, InScope>) {
    this.workflow = workflow;
    this.input = input;
    this.inputInEvents = inputInEvents;
    this.deadlineAt = deadlineAt;
  }
}

class ExecutionDraft extends BaseScopeDraft implements Draft {
  readonly root: Draft = this;
  readonly key = "";
  readonly workflowId: Draft["workflowId"];
  definition: Draft["definition"];
  metadata: Draft["metadata"];
  readonly tenant: Draft["tenant"];
  readonly unnamed: Draft["unnamed"];
  readonly createdAt: Draft["createdAt"];
  readonly incarnation: Draft["incarnation"];
  readonly parent: Draft["parent"];
  readonly scheduledBy: Draft["scheduledBy"];
  readonly from: Draft["from"];
  readonly permit: Draft["permit"];
  readonly rate: Draft["rate"];
  readonly taskQueue: Draft["taskQueue"];
  givenTime: Draft["givenTime"] = undefined;
  closing: Draft["closing"] = undefined;
  run: Draft["run"] = undefined;
  restarts = 0;
  onFailure: Draft["onFailure"] = null;
  // the event `started` makes version 0
  version = -1;
  lastStartedAt: Draft["lastStartedAt"] = undefined;
  totalExecutionTime: Draft["totalExecutionTime"] = undefined;
  steps = 0;
  sizeBytes = 0;
  descendants = 0;
  historyBytes = 0;
  committedHistoryBytes = 0;
  answered: Draft["answered"] = [];
  keyRows: Draft["keyRows"] = undefined;
  schemas: Draft["schemas"] = undefined;
  inbox: Draft["inbox"] = [];
  outbox: Draft["outbox"] = [];
  parked: Draft["parked"] = undefined;
  compensations: Draft["compensations"] = [];
  children: Draft["children"] = noChildCollections.children;
  mapItems: Draft["mapItems"] = noChildCollections.mapItems;
  openChildren = 0;
  awake: Draft["awake"] = noChildCollections.awake;
  timers: Draft["timers"] = noChildCollections.timers;
  changed: Draft["changed"] = noChildCollections.changed;
  scopesWithOldValues: Draft["scopesWithOldValues"] = null;
  dropped: Draft["dropped"] = [];
  results: Draft["results"] = [];
  endedPaths: Draft["endedPaths"] = [];
  warnings: Draft["warnings"] = [];
  errorExits: Draft["errorExits"] = null;
  endedPathCount = 0;
  listedWaits: Draft["listedWaits"] = null;

  constructor(about: DraftIdentity) {
    super(about);
    this.workflowId = about.workflowId;
    this.definition = about.definition;
    this.metadata = about.metadata;
    this.tenant = about.tenant;
    this.unnamed = about.unnamed;
    this.createdAt = about.createdAt;
    this.incarnation = about.incarnation;
    this.parent = about.parent;
    this.scheduledBy = about.scheduledBy;
    this.from = about.from;
    this.permit = about.permit;
    this.rate = about.rate;
    this.taskQueue = about.taskQueue;
  }
}

class ChildScopeDraft extends BaseScopeDraft implements ChildDraft {
  readonly root: ChildDraft["root"];
  readonly key: string;
  readonly parent: ScopeDraft;
  readonly workflowName: string;
  readonly item: ChildDraft["item"];
  siblings: ChildDraft["siblings"] = null;
  status: ChildDraft["status"] = "paused";
  queued: ChildDraft["queued"] = null;
  kept = false;
  settled = false;
  version = -1;

  constructor(about: ChildIdentity) {
    super(about);
    this.root = about.root;
    this.key = about.key;
    this.parent = about.parent;
    this.workflowName = about.workflowName;
    this.item = about.item;
  }
}

/** True for a child. */
export function isChild(scope: ScopeDraft): scope is ChildDraft {
  return scope.key !== "";
}

/** True if a child, or a child around it, waits because its map already runs as many items as it may. */
export function isHeldUp(child: ChildDraft): boolean {
  for (let scope: ScopeDraft = child; isChild(scope); scope = scope.parent) if (scope.queued !== null) return true;
  return false;
}

/** Returns what expressions can read about their execution. */
export function factsOf({ workflowId, definition, createdAt, input, closing: end }: Draft): ExecutionFacts {
  return { id: workflowId, workflow: definition.id, startedAt: createdAt, input, end };
}

/** The seed of random numbers. Executions that had the same id one after the other differ in it, if not created in the same millisecond. */
export function seedOf({ tenant, workflowId, createdAt }: Pick<Draft | Snapshot, "tenant" | "workflowId" | "createdAt">): string {
  return JSON.stringify([tenant ?? null, workflowId, createdAt ?? null]);
}

/** The values of variables at one version, by name. */
export type VariablesView = Readonly<Record<string, Json>>;

const nothing: VariablesView = Object.freeze({});

/**
 * Returns what a path reads as `vars`: the variables of its scope as they were when it arrived at its node (version `since`), and those of
 * each scope around it as of the arrival of the path that waits there for the child. A variable of an inner scope hides outer ones.
 */
export function variablesAt(scope: ScopeDraft, since: number): VariablesView {
  const layers: (readonly [ScopeDraft, number])[] = [];
  let version = since;
  for (let current = scope; ; current = current.parent) {
    if (current.variables !== noVariables || current.workflow.variables.size > 0) layers.push([current, version]);
    if (!isChild(current)) break;
    version = waitingPathOf(current)?.since ?? version;
  }
  if (layers.length === 0) return nothing;
  return Object.freeze(Object.fromEntries(layers.reverse().flatMap(([layer, at]) => entriesAt(layer, at))));
}

/** Returns the path that waits for a child; undefined if none waits any more, for example while steps of an ended child are undone. */
function waitingPathOf({ parent, siblings }: ChildDraft): DraftPath | undefined {
  return siblings?.path.children === siblings && parent.paths.includes(siblings.path) ? siblings.path : undefined;
}

function entriesAt({ workflow, variables }: ScopeDraft, version: number): [string, Json][] {
  const entries: [string, Json][] = [];
  for (const [name, { initial }] of workflow.variables) if (initial !== undefined) entries.push([name, initial]);
  for (const [name, values] of Object.entries(variables)) {
    const latest = values[indexAt(values, version)];
    if (latest) entries.push([name, latest.value]);
  }
  return entries;
}
