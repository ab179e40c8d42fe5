import type { CompiledJoin, CompiledWorkflow, JoinEdge } from "../../definition/compiled.ts";
import type { ExecutionFacts } from "../../definition/template.ts";
import type { ErrorInfo } from "../../errors/error-info.ts";
import type { AnsweredKey } from "../../snapshot/answered-key.ts";
import type { EndedPath, PlacedResult } from "../../snapshot/event.ts";
import type { Message } from "../../snapshot/message.ts";
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
import type { Variables } from "../../snapshot/variables.ts";
import { indexAt, noVariables } from "../../snapshot/variables.ts";
import type { Warning } from "../../snapshot/warning.ts";
import type { EpochMs, Json } from "../../values/json.ts";
import type { Permit, Rate } from "../../values/shared-keys.ts";
import type { DraftChildren, DraftPath } from "./draft-path.ts";
import type { ListedWaits } from "./listed-waits.ts";

/** Times by key, and the earliest of them. Asking for it again costs nothing until it changes. */
class Timetable {
  readonly #times = new Map<string, EpochMs>();
  #first: string | null = null;
  #stale = false;

  /** Sets the time of a key; null removes the key. */
  set(key: string, at: EpochMs | null): void {
    const before = this.#times.get(key);
    if (before === (at ?? undefined)) return;
    if (at === null) this.#times.delete(key);
    else this.#times.set(key, at);
    if (key === this.#first) this.#stale = true;
    else if (at !== null && !this.#stale && (this.#first === null || at < this.#times.get(this.#first)!)) this.#first = key;
  }

  /** The earliest, of several the one that was set first; null if there is none. */
  first(): { readonly key: string; readonly at: EpochMs } | null {
    if (this.#stale) this.#find();
    return this.#first === null ? null : { key: this.#first, at: this.#times.get(this.#first)! };
  }

  #find(): void {
    this.#stale = false;
    this.#first = null;
    let earliest = Number.POSITIVE_INFINITY;
    for (const [key, at] of this.#times) {
      if (at >= earliest) continue;
      earliest = at;
      this.#first = key;
    }
  }
}

/** A scope that is being changed: the execution itself, a sub-workflow, or one item of a map. Paths and joins never mix across scopes. */
export interface ScopeDraft {
  readonly root: Draft;
  /** Key of a child; empty for the execution itself. */
  readonly key: string;
  readonly workflow: CompiledWorkflow;
  readonly input: Json | undefined;
  paths: DraftPath[];
  /** How it ended; null while it goes on. */
  ended: "completed" | "failed" | "cancelled" | null;
  failedAt: string | null;
  output: Json | undefined;
  /** Where the input and an output lie in the events, if they are large. */
  readonly inputAt: string | undefined;
  outputAt: { readonly output: Json; readonly at: string } | undefined;
  readonly deadlineAt: EpochMs | undefined;
  error: ErrorInfo | undefined;
  ending: Ending | undefined;
  /** Steps that did not complete and may have had an effect. */
  begun: readonly BegunStep[];
  /** Starts out as the very context that was given, and is copied before the first result is added. */
  context: Record<string, NodeResult[]>;
  /** The context as it was given: a list that is still the same here must be copied before it grows. */
  borrowed: Context;
  variables: Variables;
  /** Paths that wait at joins, by node and wave; null while there have been none. */
  groups: Map<string, JoinGroup> | null;
}

/** The paths of one wave that wait at one join. */
export interface JoinGroup {
  readonly key: string;
  readonly join: CompiledJoin;
  readonly wave: string;
  /** The one that came first, first. */
  readonly waiting: DraftPath[];
  /** Edges that have delivered since the join fired; null while it has not. */
  got: Set<string> | null;
  /** How many of them came by each edge. */
  readonly filled: Map<string, number>;
  /** The path that the join had to wait for when it was last examined, and the edge by which that path may come. */
  blocker: { readonly path: DraftPath; readonly edge: JoinEdge } | null;
}

/** A child that is being changed. */
export interface ChildDraft extends ScopeDraft {
  readonly parent: ScopeDraft;
  readonly workflowName: string;
  /** Index of a map's item; null for a sub-workflow. */
  readonly item: number | null;
  /** Null if no path waits for the child any more. */
  siblings: DraftChildren | null;
  /** The status that its parent has counted. */
  status: Status;
  /** The version since which it waits for room in its map; null if it does not wait. */
  queued: number | null;
  kept: boolean;
  settled: boolean;
  version: number;
}

/**
 * An execution that is being changed, owned by one turn.
 *
 * It is opened once from a snapshot, takes any number of events and is closed into the next snapshot. What an
 * event costs depends on what it changes, not on how much the execution holds.
 */
export interface Draft extends ScopeDraft {
  readonly workflowId: string;
  readonly definition: { readonly id: string; readonly hash: string };
  metadata: Readonly<Record<string, Json>>;
  readonly tenant: string | undefined;
  readonly unnamed: true | undefined;
  readonly createdAt: EpochMs | undefined;
  readonly incarnation: string | undefined;
  readonly parent: Snapshot["parent"];
  readonly scheduledBy: Snapshot["scheduledBy"];
  readonly from: Snapshot["from"];
  readonly deadlineGiven: true | undefined;
  readonly permit: Permit | undefined;
  readonly rate: Rate | undefined;
  closing: Snapshot["closing"];
  continuedAs: Snapshot["continuedAs"];
  version: number;
  lastStartedAt: EpochMs | undefined;
  totalExecutionTime: number | undefined;
  steps: number;
  sizeBytes: number;
  /** What is spent of the limit `descendants`. */
  descendants: number;
  /** Bytes of all events, and of those that were there at the last commit. */
  historyBytes: number;
  committedHistoryBytes: number;
  answered: AnsweredKey[];
  schemas: Snapshot["schemas"];
  inbox: readonly KeptSignal[];
  outbox: readonly Message[];
  parked: Parked | undefined;
  compensations: CompensationResult[];
  /** Every child by its key; a child that has not changed is still the state of the snapshot. */
  children: Map<string, ChildDraft | ChildState>;
  mapItems: Map<string, readonly Json[]>;
  /** Children that have not ended. */
  openChildren: number;
  /** Children that may have something to do. */
  awake: Set<ChildDraft>;
  /** The earliest timer of each child. */
  timers: Timetable;
  /** Children that have changed since the snapshot or the last commit, by key. */
  changed: Set<string>;
  /** Scopes in which a variable has values beside its latest; null while there have been none. */
  revised: Set<ScopeDraft> | null;
  /** Keys of children that are no longer wanted, each with all that begin with it. */
  dropped: string[];
  /** What followed from the event that is being taken. */
  results: PlacedResult[];
  endedPaths: EndedPath[];
  warnings: Warning[];
  /** Joins that failed with `JOIN_SHORT` in this transition, and the paths that took their `error` edge: each may do so once. */
  shorts: Set<string> | null;
  /** Rises whenever a path ends, for any reason. */
  endings: number;
  /** What the store says of its waits; null if it is in none, or was not written yet. */
  listedWaits: ListedWaits | null;
}

/** The parts of a draft that are about its children. */
type Family = Pick<Draft, "children" | "mapItems" | "awake" | "timers" | "changed">;

/** Empty collections for children. */
export function newFamily(): Family {
  return { children: new Map(), mapItems: new Map(), awake: new Set(), timers: new Timetable(), changed: new Set() };
}

/** The shared empty collections of executions without children. Nothing may be put into them. */
export const noFamily: Family = newFamily();

// Drafts are made here alone, and each has every field, in the same order: what is put together in several ways is read and changed slower.

type InScope = "workflow" | "input" | "inputAt" | "deadlineAt";

/** What never changes in an execution, and its metadata. */
export type DraftIdentity = Pick<
  Draft,
  | InScope
  | ("workflowId" | "definition" | "metadata" | "tenant" | "unnamed" | "createdAt" | "incarnation" | "parent" | "scheduledBy")
  | ("from" | "permit" | "rate" | "deadlineGiven")
>;

/** What never changes in a child. */
export type ChildIdentity = Pick<ChildDraft, InScope | "root" | "key" | "parent" | "workflowName" | "item">;

/** A draft of an execution to which nothing has happened yet, not even its start. */
export function newDraft(about: DraftIdentity): Draft {
  return new ExecutionDraft(about);
}

/** A draft of a child to which nothing has happened yet. */
export function newChild(about: ChildIdentity): ChildDraft {
  return new ItemDraft(about);
}

const noSteps: readonly BegunStep[] = Object.freeze([]);

class EmptyScope {
  readonly workflow: ScopeDraft["workflow"];
  readonly input: ScopeDraft["input"];
  readonly inputAt: ScopeDraft["inputAt"];
  readonly deadlineAt: ScopeDraft["deadlineAt"];
  paths: DraftPath[] = [];
  ended: ScopeDraft["ended"] = null;
  failedAt: ScopeDraft["failedAt"] = null;
  output: ScopeDraft["output"] = undefined;
  outputAt: ScopeDraft["outputAt"] = undefined;
  error: ScopeDraft["error"] = undefined;
  ending: ScopeDraft["ending"] = undefined;
  begun: readonly BegunStep[] = noSteps;
  context: Record<string, NodeResult[]> = {};
  borrowed: ScopeDraft["borrowed"] = {};
  variables: Variables = noVariables;
  groups: ScopeDraft["groups"] = null;

  constructor({ workflow, input, inputAt, deadlineAt }: Pick<ScopeDraft, InScope>) {
    this.workflow = workflow;
    this.input = input;
    this.inputAt = inputAt;
    this.deadlineAt = deadlineAt;
  }
}

class ExecutionDraft extends EmptyScope implements Draft {
  readonly root: Draft = this;
  readonly key = "";
  readonly workflowId: Draft["workflowId"];
  readonly definition: Draft["definition"];
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
  readonly deadlineGiven: Draft["deadlineGiven"];
  closing: Draft["closing"] = undefined;
  continuedAs: Draft["continuedAs"] = undefined;
  // the start event makes version 0
  version = -1;
  lastStartedAt: Draft["lastStartedAt"] = undefined;
  totalExecutionTime: Draft["totalExecutionTime"] = undefined;
  steps = 0;
  sizeBytes = 0;
  descendants = 0;
  historyBytes = 0;
  committedHistoryBytes = 0;
  answered: Draft["answered"] = [];
  schemas: Draft["schemas"] = undefined;
  inbox: Draft["inbox"] = [];
  outbox: Draft["outbox"] = [];
  parked: Draft["parked"] = undefined;
  compensations: Draft["compensations"] = [];
  children: Draft["children"] = noFamily.children;
  mapItems: Draft["mapItems"] = noFamily.mapItems;
  openChildren = 0;
  awake: Draft["awake"] = noFamily.awake;
  timers: Draft["timers"] = noFamily.timers;
  changed: Draft["changed"] = noFamily.changed;
  revised: Draft["revised"] = null;
  dropped: Draft["dropped"] = [];
  results: Draft["results"] = [];
  endedPaths: Draft["endedPaths"] = [];
  warnings: Draft["warnings"] = [];
  shorts: Draft["shorts"] = null;
  endings = 0;
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
    this.deadlineGiven = about.deadlineGiven;
  }
}

class ItemDraft extends EmptyScope implements ChildDraft {
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

/** True for a child that waits for room in a map around it. */
export function isHeldUp(child: ChildDraft): boolean {
  for (let scope: ScopeDraft = child; isChild(scope); scope = scope.parent) if (scope.queued !== null) return true;
  return false;
}

/** What expressions may know of the execution that they belong to. */
export function factsOf({ workflowId, definition, createdAt, input, closing: end }: Draft): ExecutionFacts {
  return { id: workflowId, workflow: definition.id, startedAt: createdAt, input, end };
}

/** What chance is drawn from in this execution and in no other, also if one of the same id was there before. */
export function seedOf({ tenant, workflowId, createdAt }: Draft): string {
  return JSON.stringify([tenant ?? null, workflowId, createdAt ?? null]);
}

/** The values of variables at one version, by name. */
export type VariablesView = Readonly<Record<string, Json>>;

const nothing: VariablesView = Object.freeze({});

/**
 * What a path in a scope reads as `vars`: the variables of the scope as of a version, and of those around it as of when the path arrived
 * that began the child. An inner one hides an outer one of the same name.
 */
export function variablesAt(scope: ScopeDraft, since: number): VariablesView {
  const layers: (readonly [ScopeDraft, number])[] = [];
  let version = since;
  for (let current = scope; ; current = current.parent) {
    if (current.variables !== noVariables || current.workflow.variables.size > 0) layers.push([current, version]);
    if (!isChild(current)) break;
    version = ownerOf(current)?.since ?? version;
  }
  if (layers.length === 0) return nothing;
  return Object.freeze(Object.fromEntries(layers.reverse().flatMap(([layer, at]) => entriesAt(layer, at))));
}

/** The path that waits for a child; undefined if none does, because the child has ended and is being undone. */
function ownerOf({ parent, siblings }: ChildDraft): DraftPath | undefined {
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
