export { type CompileOptions, check, compile } from "./definition/compile/compile.ts";
export type {
  CompiledEdge,
  CompiledJoin,
  CompiledNode,
  CompiledVariable,
  CompiledWorkflow,
  JoinEdge,
  Reducer,
  WorkflowNames,
} from "./definition/compiled.ts";
export type { CompiledPolicy, Computed } from "./definition/compiled-policy.ts";
export type {
  Compensation,
  Concurrency,
  Edge,
  Node,
  RateLimit,
  RetryPolicy,
  Variable,
  WorkflowDefinition,
} from "./definition/definition.ts";
export { definitionHash } from "./definition/definition-hash.ts";
export { isInCycle } from "./definition/reached-from.ts";
export { type RetryRule, retryDelayMs } from "./definition/retry.ts";
export type {
  CompileTemplate,
  ExecutionFacts,
  ExpressionLanguage,
  NodeNames,
  ReadPath,
  Scope,
  ScopeParts,
  Template,
} from "./definition/template.ts";
export { catalogue } from "./errors/catalogue.ts";
export type { ErrorCode, ErrorDetails } from "./errors/error-details.ts";
export type { ErrorInfo } from "./errors/error-info.ts";
export type { Issue, IssueCode } from "./errors/issue.ts";
export type { SchemaIssue } from "./errors/schema-issue.ts";
export { StepfoldError } from "./errors/stepfold-error.ts";
export { type ExplainOptions, type Explanation, explain, type NextInfo } from "./explain/explain.ts";
export type { ItemCounts } from "./explain/explain-items.ts";
export type { MarkedSentence, SentenceMark } from "./explain/explain-marks.ts";
export type { PlaceInfo } from "./explain/explain-path.ts";
export { wantedText } from "./explain/explain-wait.ts";
export { namesText } from "./explain/explain-words.ts";
export { type StepInput, stepInput } from "./explain/step-input.ts";
export { type WaitAnswer, type WaitInfo, waits } from "./explain/waits.ts";
export { agoText, countdownText, durationText } from "./history/duration-text.ts";
export { eventSentences } from "./history/event-sentence.ts";
export type { EventPart, EventSentence, EventSign } from "./history/sentence-parts.ts";
export { type Trail, trail } from "./history/trail.ts";
export { questionOf, waitsPart } from "./history/wait-part.ts";
export { readSnapshot } from "./reading/read-snapshot.ts";
export { groupOf, itemOf, localKey, parentKey, pathNamed, type Scopes, scopedKey } from "./snapshot/address.ts";
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
} from "./snapshot/event.ts";
export { type ParentLink, type RunNumbers, runNumbers } from "./snapshot/parts/lineage.ts";
export type { ChildEnd, ChildStart, Message, RootCancel, RootStart, ScheduledBy } from "./snapshot/parts/message.ts";
export type { Refusal } from "./snapshot/parts/refusal.ts";
export type { Spawn, SpawnedMap } from "./snapshot/parts/spawn.ts";
export type { Variables, VariableValue } from "./snapshot/parts/variables.ts";
export type { Answer, Reopening, Resumed, Wait } from "./snapshot/parts/wait.ts";
export type { Warning } from "./snapshot/parts/warning.ts";
export { restore, type StoredParts } from "./snapshot/restore.ts";
export { resultOf } from "./snapshot/result.ts";
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
} from "./snapshot/snapshot.ts";
export { type FoundPath, openPaths, type Target } from "./snapshot/target.ts";
export { apply, fold } from "./transition/apply.ts";
export { findWait, type OpenWait, openWaits, workflowOf } from "./transition/find-wait.ts";
export type { IncidentAnswer } from "./transition/paths/incident.ts";
export { plan, type Task } from "./transition/plan.ts";
export { Replay } from "./transition/replay.ts";
export type { Duration } from "./values/duration.ts";
export { durationMs } from "./values/duration.ts";
export { exactJson } from "./values/exact-json.ts";
export { isId, isWorkflowId } from "./values/ids/id.ts";
export type { EpochMs, Json, JsonObject, JsonSchema } from "./values/json.ts";
export { isJsonObject } from "./values/json.ts";
export { defaultLimits, type Limits } from "./values/limits.ts";
export type { Permit, Rate } from "./values/shared-keys.ts";
export { type Normalised, normalise, plainJson } from "./values/to-json.ts";
