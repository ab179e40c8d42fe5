export type {
  CompiledEdge,
  CompiledJoin,
  CompiledNode,
  CompiledVariable,
  CompiledWorkflow,
  JoinEdge,
  Reducer,
  WorkflowNames,
} from "./core/definition/compiled.ts";
export type {
  Compensation,
  Concurrency,
  Edge,
  Node,
  RateLimit,
  RetryPolicy,
  Variable,
  WorkflowDefinition,
} from "./core/definition/definition.ts";
export { definitionHash } from "./core/definition/definition-hash.ts";
export type { ErrorCode, ErrorDetails } from "./core/errors/error-details.ts";
export type { ErrorInfo } from "./core/errors/error-info.ts";
export type { Issue, IssueCode } from "./core/errors/issue.ts";
export type { SchemaIssue } from "./core/errors/schema-issue.ts";
export { StepfoldError } from "./core/errors/stepfold-error.ts";
export { type ExplainOptions, type Explanation, explain, type NextInfo } from "./core/explain/explain.ts";
export type { ItemCounts } from "./core/explain/explain-items.ts";
export type { SentenceMark } from "./core/explain/explain-marks.ts";
export type { PlaceInfo } from "./core/explain/explain-path.ts";
export { type WaitAnswer, type WaitInfo, waits } from "./core/explain/waits.ts";
export type { AskedWait } from "./core/reading/asked-waits.ts";
export type { ItemsSummary, RetrySummary, StateSummary, WaitSummary } from "./core/reading/summary-of-head.ts";
export type {
  AnswerRefusedEvent,
  CancelledEvent,
  CompletedEvent,
  Consequences,
  ContinuedEvent,
  DeliveredEvent,
  EndedPath,
  Event,
  ExpiredEvent,
  FailedEvent,
  ItemAddedEvent,
  MapClosedEvent,
  PlacedResult,
  RestartedEvent,
  RestartState,
  ResumedEvent,
  RetriedEvent,
  SignalledEvent,
  SpawnedEvent,
  StartedEvent,
  SuspendedEvent,
  TimedOutEvent,
} from "./core/snapshot/event.ts";
export type { ParentLink, RunNumbers } from "./core/snapshot/parts/lineage.ts";
export type { ChildEnd, ChildStart, Message } from "./core/snapshot/parts/message.ts";
export type { Refusal } from "./core/snapshot/parts/refusal.ts";
export type { Spawn, SpawnedMap } from "./core/snapshot/parts/spawn.ts";
export type { Variables, VariableValue } from "./core/snapshot/parts/variables.ts";
export type { Answer, Reopening, Resumed, Wait } from "./core/snapshot/parts/wait.ts";
export type { Warning } from "./core/snapshot/parts/warning.ts";
export {
  type ActivePath,
  type ChildHead,
  type ChildrenState,
  type ChildState,
  type CompensationResult,
  type Context,
  type Ending,
  isStatus,
  isTerminal,
  type KeptSignal,
  type MapState,
  type NodeResult,
  type Parked,
  type ResultRef,
  type RetryState,
  type Round,
  type ScopeHead,
  type Snapshot,
  type SnapshotHead,
  type Status,
  statuses,
  type Undo,
} from "./core/snapshot/snapshot.ts";
export type { Target } from "./core/snapshot/target.ts";
export { apply, fold } from "./core/transition/apply.ts";
export type { ListedWait } from "./core/transition/draft/listed-waits.ts";
export { type OpenWait, openWaits } from "./core/transition/find-wait.ts";
export { plan, type Task } from "./core/transition/plan.ts";
export type { Duration } from "./core/values/duration.ts";
export { durationMs } from "./core/values/duration.ts";
export type { EpochMs, Json, JsonObject, JsonSchema } from "./core/values/json.ts";
export { defaultLimits, type Limits } from "./core/values/limits.ts";
export type { Permit, Rate } from "./core/values/shared-keys.ts";
export { type DurableContext, type DurableOptions, defineDurable } from "./durable/define-durable.ts";
export type { DurableStep, RunningStep, StepRunOptions } from "./durable/durable-step.ts";
export type { Jsonified } from "./durable/jsonified.ts";
export type { Outcome } from "./engine/attempt/outcome.ts";
export type { ResumeCommand } from "./engine/commands/answer-wait.ts";
export type { CancelCommand } from "./engine/commands/cancel-paths.ts";
export type { AddItemCommand, CloseMapCommand, CompleteMapCommand } from "./engine/commands/change-map.ts";
export type { Command } from "./engine/commands/command.ts";
export type { DeliveredCommand } from "./engine/commands/deliver-messages.ts";
export type { EndChildCommand } from "./engine/commands/end-child.ts";
export type { RetryCommand } from "./engine/commands/retry-path.ts";
export type { SignalCommand } from "./engine/commands/send-signal.ts";
export { defineNode } from "./engine/node/define-node.ts";
export { FatalError } from "./engine/node/fatal-error.ts";
export type { ChildrenRequest, GlobalsOf, MapRequest, NodeDefinition, NodeDefinitions, NodeOutput } from "./engine/node/node-definition.ts";
export { RetryAfterError } from "./engine/node/retry-after-error.ts";
export type { StandardResult, StandardSchema } from "./engine/node/standard-schema.ts";
export type { Compensating, StepContext, SuspendOptions } from "./engine/node/step-context.ts";
export type { SignalToken, Typed, WaitToken } from "./engine/node/typed.ts";
export type { ExecutionInfo, Plugin, TaskInfo } from "./engine/plugin.ts";
export { defineWorkflow } from "./engine/workflow/define-workflow.ts";
export { checkWorkflow } from "./engine/workflow/prepared-workflow.ts";
export type { StartOptions } from "./engine/workflow/start-event.ts";
export { type Untyped, untyped } from "./engine/workflow/typed-workflows.ts";
export { type ContinueRequest, type EngineOptions, type StartRequest, type StreamItem, WorkflowEngine } from "./engine/workflow-engine.ts";
export { systemEnvironment } from "./environment/system-environment.ts";
export type { Environment } from "./ports/environment.ts";
export type { EndedBucket, EndedSeries, EndStatus, ExecutionCounts, SeriesQuery } from "./ports/execution-counts.ts";
export type { CountQuery, ExecutionSummary, ListQuery, Page } from "./ports/execution-list.ts";
export { holderOf } from "./ports/holder-of.ts";
export type { MetadataBounds, MetadataFilter, WaitFilter } from "./ports/list-filters.ts";
export { type NoWorker, noWorkerFor, noWorkerText, whyNoWorker } from "./ports/no-worker.ts";
export type { AppendedRow, Claim, Commit, Lease, SnapshotStore, StoreFeatures } from "./ports/snapshot-store.ts";
export type { DefinitionLibrary, DefinitionQuery, PutDefinitionOptions, StoredDefinition } from "./ports/store-definitions.ts";
export type { DeletedExecution, PruneOptions, PruneReport, TrimOptions, TrimReport } from "./ports/store-removal.ts";
export type { LackedDefinition, LiveWorker, WorkerBeat } from "./ports/store-workers.ts";
export type { TransactionQuery } from "./ports/transaction-query.ts";
