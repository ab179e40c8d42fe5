export { apply, fold } from "./apply.ts";
export type { ErrorCode, ErrorDetails, SchemaIssue } from "./catalogue.ts";
export { catalogue } from "./catalogue.ts";
export { check, compile } from "./compile.ts";
export type { CompiledEdge, CompiledJoin, CompiledNode, CompiledWorkflow, JoinEdge } from "./compiled.ts";
export type { CompiledPolicy, Computed } from "./compiled-policy.ts";
export type { Compensation, Duration, Edge, Node, RetryPolicy, WorkflowDefinition } from "./definition.ts";
export { definitionHash } from "./definition-hash.ts";
export { durationMs } from "./duration.ts";
export type {
  CancelledEvent,
  CompletedEvent,
  Consequences,
  DeliveredEvent,
  EndedPath,
  Event,
  FailedEvent,
  ItemAddedEvent,
  MapClosedEvent,
  PlacedResult,
  ResumedEvent,
  RetriedEvent,
  SignalledEvent,
  Spawn,
  SpawnedEvent,
  SpawnedMap,
  StartedEvent,
  SuspendedEvent,
  TimedOutEvent,
} from "./event.ts";
export { type Explanation, explain, type NextInfo } from "./explain.ts";
export type { ItemCounts } from "./explain-items.ts";
export type { PlaceInfo } from "./explain-path.ts";
export { findWait, type OpenWait, openWaits } from "./find-wait.ts";
export { isId, isWorkflowId } from "./id.ts";
export type { EpochMs, Json, JsonObject, JsonSchema } from "./json.ts";
export { isJsonObject } from "./json.ts";
export { defaultLimits, type Limits } from "./limits.ts";
export { plan, type Task } from "./plan.ts";
export { readSnapshot } from "./read-snapshot.ts";
export { restore, type StoredParts } from "./restore.ts";
export { resultOf } from "./result.ts";
export { type RetryRule, retryDelayMs } from "./retry.ts";
export {
  type ActivePath,
  type Answer,
  type ChildEnd,
  type ChildHead,
  type ChildrenState,
  type ChildStart,
  type ChildState,
  type CompensationResult,
  type Context,
  type Ending,
  type ErrorInfo,
  isTerminal,
  type KeptSignal,
  type MapState,
  type Message,
  type NodeResult,
  type ParentLink,
  type ResultRef,
  type Resumed,
  type RetryState,
  type Round,
  type ScopeHead,
  type Snapshot,
  type SnapshotHead,
  type Status,
  type Undo,
  type Wait,
} from "./snapshot.ts";
export { StepfoldError } from "./stepfold-error.ts";
export type { Target } from "./target.ts";
export type { CompileTemplate, ExpressionLanguage, Issue, IssueCode, ReadPath, Scope, ScopeParts, Template } from "./template.ts";
export { type Normalised, normalise, plainJson } from "./to-json.ts";
export { type WaitAnswer, type WaitInfo, waits } from "./waits.ts";
export type { Warning } from "./warning.ts";
