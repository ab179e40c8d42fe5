import type { CompiledWorkflow } from "../../core/definition/compiled.ts";
import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { readSnapshot } from "../../core/reading/read-snapshot.ts";
import type { RunHistory } from "../../core/restart/run-history.ts";
import type { Checkpoint } from "../../core/snapshot/checkpoint.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Origin } from "../../core/snapshot/parts/lineage.ts";
import { isTerminal, type Snapshot } from "../../core/snapshot/snapshot.ts";
import { takeCheckpoint } from "../../core/transition/take-checkpoint.ts";
import { refuseUnknown } from "../../core/values/check-arguments.ts";
import { type EpochMs, type Json, sizeOfJson } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { Asked } from "../../engine/commands/asked.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import type { StartOptions } from "../../engine/workflow/start-event.ts";
import { byIn, idIn, tenantIn } from "../callers/caller.ts";
import type { ExecutionStart } from "../commands/start-execution.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import type { AdoptedChild } from "./adopted-children.ts";
import { snapshotAt, versionAtNode } from "./find-version.ts";
import { loadHistory, refused } from "./load-history.ts";

/** The time that the execution has, as for a start. Default: the time that was given at the start, counted anew. */
export type TimeOptions = Pick<StartOptions, "timeout" | "deadline">;

/** The version from which an execution is forked, and what differs in the fork. */
export interface ForkOptions extends TimeOptions, Asked {
  /** The version of the execution to go on from. Without `node` and `version`: the latest. */
  readonly version?: number | undefined;
  /** Instead of `version`: the last version at which a path had come to this node, and the node was still to be performed. */
  readonly node?: string | undefined;
  /** Replaces the input of the execution. */
  readonly input?: unknown;
  /** With `node`: the node is not performed, and this is its output. */
  readonly output?: unknown;
  /** The definition to go on with: the id of a workflow of the runtime, or a definition. Default: the definition of the execution. */
  readonly definition?: string | WorkflowDefinition | undefined;
  /** Id of the fork. It is also the idempotency key: a second call with the same id makes no second fork. Default: a new id. */
  readonly workflowId?: string | undefined;
}

/** What a fork or a restart would do. */
export interface ForkPlan {
  /** Id of the fork; of a restart, which keeps its id, that of the execution. */
  readonly workflowId: string;
  /** The execution and the version from which it goes on. */
  readonly from: Omit<Origin, "reason">;
  readonly definition: { readonly id: string; readonly hash: string };
  /** The nodes at which it goes on: those of its open paths. */
  readonly nodes: readonly string[];
  /**
   * Steps that were completed after that version. A fork, or a restart with `compensated: "again"`, performs them once more when it comes to
   * them, under new idempotency keys. Empty for other restarts, which perform no completed step again.
   */
  readonly performsAgain: readonly PerformedStep[];
  /** Of a restart: the detached executions for which the execution goes on to wait. */
  readonly children: readonly AdoptedChild[];
}

/** A step that was completed. */
export interface PerformedStep {
  readonly nodeId: string;
  /** Key of the child in which the step ran; absent for the execution itself. */
  readonly scope?: string;
  /** Version of the event with which the step was completed. */
  readonly version: number;
}

/** An execution that is about to go on from another one. */
export interface Forking {
  readonly plan: ForkPlan;
  readonly from: Origin;
  readonly start: ExecutionStart;
}

/** Plans a fork. @throws StepfoldError `FORK_REFUSED`, `NODE_UNKNOWN`, `DEFINITION_CHANGED`, `WORKFLOW_NOT_FOUND`, `OPTION_INVALID`, ... */
export async function planFork(context: RuntimeContext, workflowId: string, options: ForkOptions): Promise<Forking> {
  refuseUnknown("run.fork", options, ["version", "node", "input", "output", "definition", "workflowId", "by", "timeout", "deadline"]);
  const { version, node, output } = options;
  if (version !== undefined && node !== undefined) throw invalid("node", "cannot be given together with `version`");
  if (output !== undefined && node === undefined) throw invalid("output", "needs `node`, whose output it is");
  const history = await loadHistory(context, workflowId, "fork");
  const { head, events } = history;
  const { limits } = context.setting;
  const point = snapshotAt(history, node === undefined ? (version ?? head.version) : versionAtNode(history, node));
  const prepared = await wantedDefinition(context, history, options.definition);
  const { input, sizeBytes } = inputOf(point.snapshot, options, limits);
  const { runsCode, code } = prepared.compiled;
  if (output !== undefined && code) throw invalid("output", "cannot be given to a step of code: let the code itself decide it");
  const checkpointAt = (now: EpochMs): Checkpoint => {
    const laterMs = point.leftAt === null ? 0 : Math.max(0, now - point.leftAt);
    const { from, state } = takeCheckpoint(point.snapshot, { reason: "fork", laterMs, runsCode });
    return { from, state: { ...state, sizeBytes } };
  };
  const checkpoint = checkpointAt(point.leftAt ?? 0);
  requireNodes(workflowId, checkpoint.state, prepared, limits);
  // new ids begin with the time, so only the ends of two ids that are made at the same time differ
  const newWorkflowId = idIn(context.caller, options.workflowId ?? `${workflowId}~${context.environment.newId().slice(-12)}`);
  const start: ExecutionStart = {
    prepared,
    options: {
      workflowId: newWorkflowId,
      metadata: head.metadata,
      tenant: head.tenant,
      taskQueue: head.taskQueue,
      by: byIn(context.caller, options.by),
      ...(input !== undefined && { input }),
      ...timeOf(history, options),
    },
    unnamed: options.definition === undefined ? head.unnamed === true : typeof options.definition !== "string",
    fromCheckpoint: {
      checkpointAt,
      hasBegun: head.lastStartedAt !== undefined,
      ...(output !== undefined && { completes: { nodeId: node!, output } }),
    },
  };
  return {
    start,
    from: checkpoint.from,
    plan: {
      workflowId: newWorkflowId,
      from: checkpoint.from,
      definition: nameOf(prepared.compiled),
      nodes: nodesOf(checkpoint.state),
      performsAgain: performedAfter(events, checkpoint.from.version),
      children: [],
    },
  };
}

/** Options for taking a snapshot into a store. */
export interface AdoptOptions extends Asked {
  /** Id of the execution. Default: the id in the snapshot. */
  readonly workflowId?: string | undefined;
  /**
   * The tenant of the execution. Only you say whose execution it becomes: a snapshot that names another tenant is refused, and so is one
   * that names a tenant if you name none. Default: none.
   */
  readonly tenant?: string | undefined;
}

/**
 * Plans to take a snapshot into the store.
 *
 * @throws StepfoldError `SNAPSHOT_INVALID`, `DEFINITION_CHANGED`, `DEFINITION_UNKNOWN`, `FORK_REFUSED`, `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function planAdoption(
  context: RuntimeContext,
  workflow: string | WorkflowDefinition,
  given: unknown,
  options: AdoptOptions,
): Forking {
  refuseUnknown("runtime.adopt", options, ["workflowId", "tenant", "by"]);
  const prepared = definitionOf(context, workflow);
  const { compiled } = prepared;
  const snapshot = readSnapshot(given, compiled, context.setting.limits);
  const workflowId = idIn(context.caller, options.workflowId ?? snapshot.workflowId);
  const [tenant, by] = [tenantIn(context.caller, options.tenant), byIn(context.caller, options.by)];
  const { metadata, input, status, version, deadlineAt: deadline } = snapshot;
  requireTenant(snapshot, tenant);
  if (isTerminal(status)) throw refused(snapshot, version, `it is ${status}`);
  if (snapshot.ending || snapshot.closing) throw refused(snapshot, version, "it is ending; drive it to its end with the engine");
  const checkpoint = takeCheckpoint(snapshot, { reason: "adopt", laterMs: 0, runsCode: compiled.runsCode });
  return {
    from: checkpoint.from,
    start: {
      prepared,
      options: { workflowId, metadata, tenant, by, deadline, ...(input !== undefined && { input }) },
      unnamed: typeof workflow !== "string",
      fromCheckpoint: { checkpointAt: () => checkpoint, hasBegun: true },
    },
    plan: {
      workflowId,
      from: checkpoint.from,
      definition: nameOf(compiled),
      nodes: nodesOf(checkpoint.state),
      performsAgain: [],
      children: [],
    },
  };
}

/** Refuses a snapshot that claims to belong to another tenant than the caller says. @throws StepfoldError `SNAPSHOT_INVALID`, `OPTION_INVALID` */
function requireTenant({ tenant: claimed }: Snapshot, tenant: string | undefined): void {
  if (claimed === undefined || claimed === tenant) return;
  if (tenant === undefined)
    throw invalid("tenant", `must be given: the snapshot names the tenant "${claimed}", but only you say whose execution it becomes`);
  throw new StepfoldError("SNAPSHOT_INVALID", { pointer: "/tenant", reason: `is "${claimed}", and the option \`tenant\` is "${tenant}"` });
}

/** Returns the id and the hash of a definition. */
export function nameOf({ definition: { id }, hash }: CompiledWorkflow): ForkPlan["definition"] {
  return { id, hash };
}

/** Returns the nodes of the open paths. */
export function nodesOf({ activePaths }: Pick<Checkpoint["state"], "activePaths">): string[] {
  return [...new Set(activePaths.map(({ nodeId }) => nodeId))];
}

/** Returns the time for the new execution. Default: the time that was given to the origin; a timeout of the definition applies anyway. */
function timeOf({ head: { givenTime } }: RunHistory, { timeout, deadline }: TimeOptions): TimeOptions {
  if (timeout !== undefined || deadline !== undefined) return { timeout, deadline };
  return givenTime ? { timeout: givenTime.timeoutMs } : {};
}

/** Returns the definition to go on with: that of the execution, unless another one is given. */
export async function wantedDefinition(
  context: RuntimeContext,
  { head }: RunHistory,
  given: string | WorkflowDefinition | undefined,
): Promise<PreparedWorkflow> {
  if (given !== undefined) return definitionOf(context, given);
  return context.registry.pinnedForCommands(head.workflowId, head.definition.hash);
}

function definitionOf({ registry }: RuntimeContext, definition: string | WorkflowDefinition): PreparedWorkflow {
  return typeof definition === "string" ? registry.current(definition) : registry.prepare(definition);
}

/** Returns the input of the new execution, and the size of its state with this input. */
function inputOf(
  { input, sizeBytes }: Snapshot,
  given: Pick<ForkOptions, "input">,
  limits: Limits,
): { input: Json | undefined; sizeBytes: number } {
  if (given.input === undefined) return { input, sizeBytes };
  const kept = normalise(given.input, "The input", limits);
  return { input: kept.value, sizeBytes: sizeBytes - (input === undefined ? 0 : sizeOfJson(input)) + kept.sizeBytes };
}

/** Checks that the definition has the nodes of all paths. @throws StepfoldError `DEFINITION_CHANGED` if it lacks one; `SNAPSHOT_INVALID` */
function requireNodes(workflowId: string, state: Checkpoint["state"], { compiled }: PreparedWorkflow, limits: Limits): void {
  readSnapshot({ ...state, schema: 1, version: 0, workflowId, definition: nameOf(compiled), metadata: {} }, compiled, limits);
}

/** Returns the steps that were completed after a version. */
export function performedAfter(events: readonly Event[], version: number): PerformedStep[] {
  const steps: PerformedStep[] = [];
  for (const event of events.filter((one) => one.version > version)) {
    if (event.type !== "completed" || event.undoes) continue;
    steps.push({ nodeId: event.nodeId, ...(event.scope !== undefined && { scope: event.scope }), version: event.version });
  }
  return steps;
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
