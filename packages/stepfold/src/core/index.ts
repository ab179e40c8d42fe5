export { apply, fold } from "./apply.ts";
export type { ErrorCode, ErrorDetails, SchemaIssue } from "./catalogue.ts";
export { catalogue } from "./catalogue.ts";
export { check, compile } from "./compile.ts";
export type { CompiledEdge, CompiledNode, CompiledWorkflow } from "./compiled.ts";
export type { CompiledPolicy, Computed } from "./compiled-policy.ts";
export type { Duration, Edge, Node, RetryPolicy, WorkflowDefinition } from "./definition.ts";
export { definitionHash } from "./definition-hash.ts";
export { durationMs } from "./duration.ts";
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
} from "./event.ts";
export { findWait, type OpenWait, openWaits, type Target } from "./find-wait.ts";
export { isId, isWorkflowId } from "./id.ts";
export type { EpochMs, Json, JsonObject, JsonSchema } from "./json.ts";
export { isJsonObject } from "./json.ts";
export { defaultLimits, type Limits } from "./limits.ts";
export { plan, type Task } from "./plan.ts";
export { readSnapshot } from "./read-snapshot.ts";
export { contextOf, resultOf } from "./result.ts";
export { type RetryRule, retryDelayMs } from "./retry.ts";
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
} from "./snapshot.ts";
export { StepfoldError } from "./stepfold-error.ts";
export type { CompileTemplate, ExpressionLanguage, Issue, IssueCode, ReadPath, Scope, ScopeParts, Template } from "./template.ts";
export { type Normalised, normalise, plainJson } from "./to-json.ts";
