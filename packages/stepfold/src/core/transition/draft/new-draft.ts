import type { BegunStep, NodeResult } from "../../snapshot/snapshot.ts";
import { noVariables, type Variables } from "../../snapshot/variables.ts";
import { type ChildDraft, type Draft, noFamily, type ScopeDraft } from "./draft.ts";
import type { DraftPath } from "./draft-path.ts";

// Drafts are made here alone, and each has every field, in the same order: what is put together in several ways is read and changed slower.

type InScope = "workflow" | "input" | "inputAt" | "deadlineAt";

/** What never changes in an execution. */
export type DraftIdentity = Pick<
  Draft,
  | InScope
  | ("workflowId" | "definition" | "metadata" | "tenant" | "unnamed" | "createdAt" | "incarnation" | "parent" | "scheduledBy")
  | ("from" | "permit" | "deadlineGiven")
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
  readonly metadata: Draft["metadata"];
  readonly tenant: Draft["tenant"];
  readonly unnamed: Draft["unnamed"];
  readonly createdAt: Draft["createdAt"];
  readonly incarnation: Draft["incarnation"];
  readonly parent: Draft["parent"];
  readonly scheduledBy: Draft["scheduledBy"];
  readonly from: Draft["from"];
  readonly permit: Draft["permit"];
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
