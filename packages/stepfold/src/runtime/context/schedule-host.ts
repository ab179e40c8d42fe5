import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { NodeDefinitions } from "../../engine/node/node-definition.ts";
import type { ExecutionSummary, ListQuery, Page } from "../../ports/snapshot-store.ts";
import type { CreateScheduleOptions, ScheduleSpec, Schedules } from "./schedules.ts";

/** What a runtime does for the schedules on it. */
export interface ScheduleHost {
  readonly limits: Limits;
  /** The time by the store's clock. */
  now(): Promise<EpochMs>;
  /** Why a workflow cannot be started here with an input; null if it can. */
  problemOf(workflow: string, input: Json): StepfoldError | null;
  /** The execution that a schedule is now, or was last; null if there is none. */
  find(name: string): Promise<Snapshot | null>;
  load(workflowId: string): Promise<Snapshot | null>;
  /** Starts the execution of a schedule. False if there is one with this id. */
  start(name: string, workflowId: string, input: Json, tenant: string | undefined): Promise<boolean>;
  /** Tells a schedule something. */
  tell(workflowId: string, payload: Json): Promise<void>;
  cancel(workflowId: string, reason: string): Promise<void>;
  /** Lets some time pass, before something is tried again. */
  pause(): Promise<void>;
  list(query: Omit<ListQuery, "definitionId">): Promise<Page<ExecutionSummary>>;
}

/** What `schedules` of `stepfold/schedules` makes, for the option `schedules` of a runtime. */
export interface SchedulesPart {
  /** The definition that schedules are executions of. */
  readonly workflow: WorkflowDefinition;
  /** Schedules that are put when a runtime begins to work. */
  readonly declared: Readonly<Record<string, ScheduleSpec & CreateScheduleOptions>>;
  open(host: ScheduleHost): { readonly nodeDefinitions: NodeDefinitions; readonly schedules: Schedules };
}
