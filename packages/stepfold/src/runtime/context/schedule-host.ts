import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { SignalCommand } from "../../engine/commands/send-signal.ts";
import type { NodeDefinitions } from "../../engine/node/node-definition.ts";
import type { ExecutionSummary, ListQuery, Page } from "../../ports/execution-list.ts";
import type { CreateScheduleOptions, ScheduleSpec, Schedules } from "./schedules.ts";

/** Name of the signal that brings a schedule its commands and the news of its executions. */
export const scheduleSignal = "schedule";
/** How long a signal to a schedule is kept: ten years, because it must not expire. */
const ttlMs = 10 * 365 * 24 * 60 * 60 * 1000;

/** Returns the signal that tells a schedule something. */
export function toSchedule(payload: Json, idempotencyKey?: string): SignalCommand {
  return { type: "signal", name: scheduleSignal, payload, ttl: ttlMs, ...(idempotencyKey !== undefined && { idempotencyKey }) };
}

/** What a runtime does for the schedules on it. */
export interface ScheduleHost {
  readonly limits: Limits;
  /** The tenant whose schedules these are; undefined: schedules of all tenants, by their whole names. */
  readonly tenant: string | undefined;
  /** The time by the store's clock. */
  now(): Promise<EpochMs>;
  /** Returns an id that no other call returns. */
  newId(): string;
  /** Returns the error that refuses to start a workflow here with an input; null if it can be started. */
  problemOf(workflow: string, input: Json): StepfoldError | null;
  /** Loads the execution of a schedule; null if there is none with this id. */
  load(workflowId: string): Promise<Snapshot | null>;
  /** Starts the execution of a schedule. Resolves to false if there is an execution with this id. */
  start(name: string, workflowId: string, input: Json, tenant: string | undefined): Promise<boolean>;
  /** Deletes a schedule that has ended. */
  remove(workflowId: string): Promise<void>;
  /**
   * Sends a command to the execution of a schedule, by a signal.
   *
   * @param idempotencyKey the same key counts once, as in `run.signal`
   */
  tell(workflowId: string, payload: Json, idempotencyKey?: string): Promise<void>;
  cancel(workflowId: string, reason: string): Promise<void>;
  /** Lists executions of schedules. */
  list(query: Omit<ListQuery, "definitionId">): Promise<Page<ExecutionSummary>>;
}

/** The value of the option `schedules` of a runtime, which `schedules()` of `stepfold/schedules` makes. */
export interface SchedulesPart {
  /** The definition of which schedules are executions. */
  readonly workflow: WorkflowDefinition;
  /** Schedules that are created or edited (`put`) when a runtime begins to work, by their names. */
  readonly declared: Readonly<Record<string, ScheduleSpec & CreateScheduleOptions>>;
  open(host: ScheduleHost): { readonly nodeDefinitions: NodeDefinitions; readonly schedules: Schedules };
}
