import type { CompiledWorkflow } from "../../core/definition/compiled.ts";
import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { readSnapshot } from "../../core/reading/read-snapshot.ts";
import type { Checkpoint } from "../../core/snapshot/checkpoint.ts";
import type { ContinuedEvent, Event, RestartedEvent, StartedEvent } from "../../core/snapshot/event.ts";
import { type ActivePath, isTerminal, type Origin, type Snapshot, type SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { takeCheckpoint } from "../../core/transition/take-checkpoint.ts";
import { refuseUnknown } from "../../core/values/check-arguments.ts";
import { type EpochMs, type Json, sizeOfJson } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import { type StartOptions, timesOf } from "../../engine/workflow/start-event.ts";
import { readHistory } from "../../ports/read-history.ts";
import type { ExecutionStart } from "../commands/start-execution.ts";
import { scheduleWorkflowId } from "../../core/values/reserved-ids.ts";
import { requireHead } from "../context/require-snapshot.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { type AdoptedChild, adoptedChildren } from "./adopted-children.ts";
import { type ForkPoint, firstVersion, goingOnAt, type History, refused, snapshotAt, versionAtNode, versionBeforeEnd } from "./find-version.ts";

/** The time that the new execution has, as for a start. Default: the time that was given at the start of the origin, counted anew. */
type TimeOptions = Pick<StartOptions, "timeout" | "deadline">;

/** The version from which an execution is forked, and what differs in the fork. */
export interface ForkOptions extends TimeOptions {
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

/** How a restarted execution goes on. */
export interface RestartOptions extends TimeOptions {
  /**
   * Required if steps were undone. `again`: the new execution goes on before the first of these steps, so they are performed again.
   * `keep`: it goes on where the old one failed, and these steps count as if they had not been undone.
   */
  readonly compensated?: "again" | "keep" | undefined;
  /** The same key is one restart, however often it is given, also if the execution has failed again meanwhile. */
  readonly idempotencyKey?: string | undefined;
  /** `new`: the steps that failed get new idempotency keys, for services that keep a failure under a key. Default: `same`. */
  readonly keys?: "same" | "new" | undefined;
  /** As for a fork. */
  readonly definition?: string | WorkflowDefinition | undefined;
}

/** What a restart has done. */
export interface RestartOutcome {
  readonly applied: boolean;
  /**
   * `restarted`: this call has restarted the execution. `open`: an earlier call has, and the execution has not ended since. `completed`: it
   * has completed since. `repeated`: the same idempotency key was given before.
   */
  readonly reason: "restarted" | "repeated" | "open" | "completed";
}

/** What a fork or a restart would do. */
export interface ForkPlan {
  /** Id of the new execution. */
  readonly workflowId: string;
  readonly from: Origin;
  readonly definition: { readonly id: string; readonly hash: string };
  /** The nodes at which the new execution goes on: those of its open paths. */
  readonly nodes: readonly string[];
  /**
   * Steps that the origin has completed after that version. If the new execution comes to them, it performs them once more, under new
   * idempotency keys.
   */
  readonly performsAgain: readonly PerformedStep[];
  /** Of a restart: the detached executions that the new execution goes on to wait for. */
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
  readonly start: ExecutionStart;
}

/** Plans a fork. @throws StepfoldError `FORK_REFUSED`, `NODE_UNKNOWN`, `DEFINITION_CHANGED`, `WORKFLOW_NOT_FOUND`, `OPTION_INVALID`, ... */
export async function planFork(context: RuntimeContext, workflowId: string, options: ForkOptions): Promise<Forking> {
  refuseUnknown("run.fork", options, ["version", "node", "input", "output", "definition", "workflowId", "timeout", "deadline"]);
  const { version, node, output } = options;
  if (version !== undefined && node !== undefined) throw invalid("node", "cannot be given together with `version`");
  if (output !== undefined && node === undefined) throw invalid("output", "needs `node`, whose output it is");
  const { head, history } = await loadHistory(context, workflowId);
  if (head.definition.id === scheduleWorkflowId) throw refused(workflowId, null, "it is a schedule");
  const wanted = node === undefined ? (version ?? head.version) : versionAtNode(history, node);
  // new ids begin with the time, so only the ends of two ids that are made at the same time differ
  const newWorkflowId = options.workflowId ?? `${workflowId}~${context.environment.newId().slice(-12)}`;
  return plan(context, {
    head,
    history,
    point: snapshotAt(history, wanted),
    newWorkflowId,
    reason: "fork",
    options,
    dropsCompensations: false,
  });
}

/** An execution that is about to go on where it failed. */
export interface Restarting {
  readonly plan: ForkPlan;
  readonly prepared: PreparedWorkflow;
  /** Returns the event that restarts the execution at this time of the store's clock. */
  eventAt(now: EpochMs): RestartedEvent;
}

/**
 * Plans a restart.
 *
 * @throws StepfoldError `FORK_REFUSED`, `RESTART_COMPENSATED`, `DEFINITION_CHANGED`, `WORKFLOW_NOT_FOUND`, ...
 */
export async function planRestart(context: RuntimeContext, workflowId: string, options: RestartOptions): Promise<Restarting> {
  refuseUnknown("run.restart", options, ["compensated", "idempotencyKey", "keys", "definition", "timeout", "deadline"]);
  const { compensated } = options;
  if (compensated !== undefined && compensated !== "again" && compensated !== "keep") throw invalid("compensated", "must be again or keep");
  const { head, history } = await loadHistory(context, workflowId);
  if (head.definition.id === scheduleWorkflowId) throw refused(workflowId, null, "it is a schedule");
  if (head.status === "completed") throw refused(workflowId, null, "it has completed; fork it at the node from which it should go on");
  if (head.status !== "failed" && head.status !== "cancelled") throw refused(workflowId, null, `it is ${head.status}, and has not ended`);
  const undone = undoneVersions(history.events);
  if (undone.length > 0 && compensated === undefined)
    throw new StepfoldError("RESTART_COMPENSATED", { workflowId, nodes: undone.map(({ nodeId }) => nodeId) });
  const first = Math.min(...undone.map(({ version }) => version));
  const isAgain = compensated === "again" && undone.length > 0;
  const point = isAgain ? snapshotAt(history, Math.max(firstVersion(history), first - 1)) : versionBeforeEnd(history);
  const children = await adoptedChildren(context, head, point, compensated);
  const { limits } = context.setting;
  const prepared = options.definition === undefined
    ? await context.registry.pinnedForCommands(workflowId, head.definition.hash)
    : definitionOf(context, options.definition);
  const version = head.version + 1;
  // steps after this point were performed before: what they are named by must not repeat. No event raises a turn by more than two
  const jump = isAgain ? 2 * (version - point.snapshot.version) : 0;
  const ahead = (path: ActivePath): ActivePath => {
    const [turn, forks] = [path.turn + jump, (path.forks ?? 0) + jump];
    return jump === 0 ? path : { ...path, turn, forks, ...(!path.children && { visit: turn }) };
  };
  const stateAt = (now: EpochMs): RestartedEvent["state"] => {
    const given = goingOnAt(point, now, { reason: "restart", dropsCompensations: true, adopts: children.adopts });
    const { state } = takeCheckpoint(point.snapshot, given, 0);
    const { activePaths, childStates, mapItems, rounds, begun, outbox, inbox, variables } = state;
    return {
      activePaths: activePaths.map(ahead),
      ...(childStates && {
        childStates: Object.fromEntries(
          Object.entries(childStates).map(([key, child]) => [key, { ...child, activePaths: child.activePaths.map(ahead) }]),
        ),
      }),
      ...(mapItems && { mapItems }),
      ...(rounds && { rounds }),
      ...(begun && { begun }),
      ...(inbox && { inbox }),
      ...(point.snapshot.closing && { closing: point.snapshot.closing }),
      ...(outbox && { outbox: outbox.map((message, nth) => ({ ...message, id: `${version}.${nth}` })) }),
      ...(isAgain && variables && { variables }),
    };
  };
  const given = goingOnAt(point, point.leftAt ?? 0, { reason: "restart", dropsCompensations: true, adopts: [] });
  const { from, state } = takeCheckpoint(point.snapshot, given, 0);
  // paths that only wait for each other are judged again when the restart is made, perhaps by another definition
  const isStuck = state.activePaths.every(({ status }) => status === "held" || status === "joining");
  if (!isStuck)
    readSnapshot(
      {
        ...{ ...state, schema: 1, version: head.version, workflowId, definition: nameOf(prepared.compiled), metadata: {} },
        ...(point.snapshot.closing && { closing: point.snapshot.closing }),
      },
      prepared.compiled,
      limits,
    );
  return {
    prepared,
    plan: {
      workflowId,
      from,
      definition: nameOf(prepared.compiled),
      nodes: nodesOf({ from, state }),
      performsAgain: isAgain ? performedAfter(history.events, point.snapshot.version) : [],
      children: children.plans,
    },
    eventAt(now) {
      const time = timesOf(prepared, { workflowId, input: head.input ?? point.snapshot.input, metadata: head.metadata, at: now }, timeOf(history, options), limits);
      return {
        type: "restarted",
        version,
        at: now,
        definition: nameOf(prepared.compiled),
        state: stateAt(now),
        ...time,
        ...(undone.length > 0 && { dropsCompensations: true as const }),
        ...(isAgain && { since: point.snapshot.version }),
        sizeBytes: 0,
      };
    },
  };
}

/** Options for taking a snapshot into a store. */
export interface AdoptOptions {
  /** Id of the execution. Default: the id in the snapshot. */
  readonly workflowId?: string | undefined;
}

/**
 * Plans to take a snapshot into the store.
 *
 * @throws StepfoldError `SNAPSHOT_INVALID`, `DEFINITION_CHANGED`, `DEFINITION_UNKNOWN`, `FORK_REFUSED`, `OPTION_UNKNOWN`
 */
export function planAdoption(
  context: RuntimeContext,
  workflow: string | WorkflowDefinition,
  given: unknown,
  options: AdoptOptions,
): Forking {
  refuseUnknown("runtime.adopt", options, ["workflowId"]);
  const prepared = definitionOf(context, workflow);
  const { compiled } = prepared;
  const snapshot = readSnapshot(given, compiled, context.setting.limits);
  const { workflowId = snapshot.workflowId, metadata, tenant, input, status, version, deadlineAt: deadline } = { ...snapshot, ...options };
  if (isTerminal(status)) throw refused(snapshot.workflowId, version, `it is ${status}`);
  if (snapshot.ending || snapshot.closing) throw refused(snapshot.workflowId, version, "it is ending; drive it to its end with the engine");
  const checkpoint = takeCheckpoint(snapshot, { reason: "adopt", laterMs: 0 });
  return {
    start: {
      prepared,
      options: { workflowId, metadata, tenant, deadline, ...(input !== undefined && { input }) },
      unnamed: typeof workflow !== "string",
      fromCheckpoint: { checkpointAt: () => checkpoint },
    },
    plan: { workflowId, from: checkpoint.from, definition: nameOf(compiled), nodes: nodesOf(checkpoint), performsAgain: [], children: [] },
  };
}

function nameOf({ definition: { id }, hash }: CompiledWorkflow): ForkPlan["definition"] {
  return { id, hash };
}

function nodesOf({ state }: Checkpoint): string[] {
  return [...new Set(state.activePaths.map(({ nodeId }) => nodeId))];
}

/** What is needed to plan a fork or a restart. */
interface PlanRequest {
  readonly head: SnapshotHead;
  readonly history: History;
  readonly point: ForkPoint;
  readonly newWorkflowId: string;
  readonly reason: Origin["reason"];
  readonly options: Pick<ForkOptions, "definition" | "input" | "node" | "output" | "timeout" | "deadline">;
  /** Steps that were undone count as not undone. */
  readonly dropsCompensations: boolean;
}

async function plan(context: RuntimeContext, request: PlanRequest): Promise<Forking> {
  const { head, history, point, newWorkflowId, reason, options, dropsCompensations } = request;
  const { limits } = context.setting;
  const { definition, unnamed } = options.definition === undefined ? head : { definition: null, unnamed: undefined };
  const prepared = definition
    ? await context.registry.pinnedForCommands(history.workflowId, definition.hash)
    : definitionOf(context, options.definition!);
  const isUnnamed = unnamed === true || (options.definition !== undefined && typeof options.definition !== "string");
  const { input, sizeBytes } = inputOf(point.snapshot, options, limits);
  const checkpointAt = (now: EpochMs): Checkpoint => {
    const { from, state } = takeCheckpoint(
      point.snapshot,
      goingOnAt(point, now, { reason, dropsCompensations, adopts: [] }),
    );
    return { from, state: { ...state, sizeBytes } };
  };
  const checkpoint = checkpointAt(point.leftAt ?? 0);
  requireNodes(newWorkflowId, checkpoint, prepared, limits);
  const { compiled } = prepared;
  const start: ExecutionStart = {
    prepared,
    options: {
      workflowId: newWorkflowId,
      metadata: head.metadata,
      tenant: head.tenant,
      ...(input !== undefined && { input }),
      ...timeOf(history, options),
    },
    unnamed: isUnnamed,
    fromCheckpoint: { checkpointAt, ...(options.output !== undefined && { completes: { nodeId: options.node!, output: options.output } }) },
  };
  return {
    start,
    plan: {
      workflowId: newWorkflowId,
      from: checkpoint.from,
      definition: nameOf(compiled),
      nodes: nodesOf(checkpoint),
      performsAgain: performedAfter(history.events, checkpoint.from.version),
      children: [],
    },
  };
}

/** Returns the time for the new execution. Default: the time that was given to the origin; a timeout of the definition applies anyway. */
function timeOf({ events: [started] }: History, { timeout, deadline }: TimeOptions): TimeOptions {
  if (timeout !== undefined || deadline !== undefined) return { timeout, deadline };
  const { at, startAt = at, deadlineAt, deadlineGiven } = started;
  return deadlineGiven ? { timeout: Math.max(0, deadlineAt! - startAt) } : {};
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
function requireNodes(workflowId: string, { state }: Checkpoint, { compiled }: PreparedWorkflow, limits: Limits): void {
  readSnapshot({ ...state, schema: 1, version: 0, workflowId, definition: nameOf(compiled), metadata: {} }, compiled, limits);
}

async function loadHistory(
  context: RuntimeContext,
  workflowId: string,
): Promise<{ readonly head: SnapshotHead; readonly history: History }> {
  const { store, registry } = context;
  const head = await requireHead(store, workflowId);
  const { compiled } = await registry.pinnedForCommands(workflowId, head.definition.hash);
  const since = head.run?.since ?? 0;
  // the last page may hold events that were committed after the head was read
  const rows = (await readHistory(store, workflowId, head.version, since - 1)).filter(({ version }) => version <= head.version);
  const [first, ...others] = rows.map(({ event }) => event);
  const isWhole = first?.type === "started" ? first.incarnation === head.incarnation : first?.type === "continued" && first.version === since;
  // the execution was deleted meanwhile, or another execution has its id now
  if (!isWhole) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
  return { head, history: { workflowId, compiled, head, events: [first as StartedEvent | ContinuedEvent, ...others] } };
}

/** Returns the steps that were undone, each with the version of its result. */
function undoneVersions(events: readonly Event[]): { readonly nodeId: string; readonly version: number }[] {
  const undone: { readonly nodeId: string; readonly version: number }[] = [];
  for (const event of events) {
    if (event.type === "completed" && event.undoes?.version !== undefined)
      undone.push({ nodeId: event.nodeId, version: event.undoes.version });
  }
  return undone;
}

/** Returns the steps that were completed after a version. */
function performedAfter(events: readonly Event[], version: number): PerformedStep[] {
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
