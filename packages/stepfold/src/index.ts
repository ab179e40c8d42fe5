export { apply, fold } from "./core/apply.ts";
export type { ErrorCode, ErrorDetails, SchemaIssue } from "./core/catalogue.ts";
export type { CompiledEdge, CompiledNode, CompiledWorkflow } from "./core/compiled.ts";
export type { Duration, Edge, Node, RetryPolicy, WorkflowDefinition } from "./core/definition.ts";
export { definitionHash } from "./core/definition-hash.ts";
export { durationMs } from "./core/duration.ts";
export type {
  CancelledEvent,
  CompletedEvent,
  Event,
  FailedEvent,
  ResumedEvent,
  RetriedEvent,
  StartedEvent,
  SuspendedEvent,
  TimedOutEvent,
} from "./core/event.ts";
export { type OpenWait, openWaits, type Target } from "./core/find-wait.ts";
export type { EpochMs, Json, JsonObject, JsonSchema } from "./core/json.ts";
export { defaultLimits, type Limits } from "./core/limits.ts";
export { plan, type Task } from "./core/plan.ts";
export {
  type ActivePath,
  type Context,
  type ErrorInfo,
  isTerminal,
  type NodeResult,
  type Resumed,
  type RetryState,
  type Snapshot,
  type SnapshotHead,
  type Status,
  type Wait,
} from "./core/snapshot.ts";
export { StepfoldError } from "./core/stepfold-error.ts";
export type { Issue, IssueCode } from "./core/template.ts";
export type { CancelCommand, Command, ResumeCommand, RetryCommand } from "./engine/command.ts";
export { defineNode } from "./engine/define-node.ts";
export { defineWorkflow } from "./engine/define-workflow.ts";
export { FatalError } from "./engine/fatal-error.ts";
export type { GlobalsOf, NodeDefinition, NodeDefinitions, NodeOutput } from "./engine/node-definition.ts";
export type { Outcome } from "./engine/outcome.ts";
export type { Plugin, TaskInfo } from "./engine/plugin.ts";
export { checkWorkflow } from "./engine/prepared-workflow.ts";
export { RetryAfterError } from "./engine/retry-after-error.ts";
export type { StandardResult, StandardSchema } from "./engine/standard-schema.ts";
export type { StartOptions } from "./engine/started.ts";
export type { StepContext, SuspendOptions } from "./engine/step-context.ts";
export { systemEnvironment } from "./engine/system-environment.ts";
export { type ContinueRequest, type EngineOptions, type StartRequest, type StreamItem, WorkflowEngine } from "./engine/workflow-engine.ts";
export type { Environment } from "./ports/environment.ts";
export type {
  AppendedRow,
  Claim,
  Claimed,
  Commit,
  ExecutionSummary,
  Lease,
  ListQuery,
  Page,
  PruneOptions,
  PruneReport,
  SnapshotStore,
  StoreFeatures,
} from "./ports/snapshot-store.ts";
