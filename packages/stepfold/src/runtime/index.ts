export type { ImportedWorkflow } from "../core/definition/imported-workflow.ts";
export type { NodeTypeInfo } from "../engine/workflow/describe-node-type.ts";
export type { EventFeed, FeedFeatures, FeedSubscription, ListenOptions, Notice, NoticeKind } from "../ports/event-feed.ts";
export { durationBoundsMs } from "../ports/execution-counts.ts";
export { countExecutions, endedSeries, findSummaries } from "../ports/list-fallbacks.ts";
export type { ConsumeOptions, Consumer, Delivery, QueueFeatures, WakeUp, WorkQueue } from "../ports/work-queue.ts";
export type { BroadcastOptions, BroadcastReport } from "./bulk/broadcast.ts";
export type { BulkAction, BulkOptions, BulkOutcome } from "./bulk/bulk.ts";
export type { Caller } from "./callers/caller.ts";
export type { RuntimeOptions } from "./context/runtime-options.ts";
export type { ScheduleHost, SchedulesPart } from "./context/schedule-host.ts";
export type {
  BackfillOptions,
  CreateScheduleOptions,
  OverlapPolicy,
  ScheduleDescription,
  ScheduleListQuery,
  ScheduleProblem,
  ScheduleSpec,
  Schedules,
  TriggerOptions,
} from "./context/schedules.ts";
export { feedHearsItself } from "./context/test-feed.ts";
export { createRuntime } from "./create-runtime.ts";
export type { RestartOutcome } from "./delivery/restart-execution.ts";
export type { RuntimeDescription, WorkflowInfo } from "./describe.ts";
export type { AdoptedChild } from "./forks/adopted-children.ts";
export type { AdoptOptions, ForkOptions, ForkPlan, PerformedStep } from "./forks/fork.ts";
export type { RestartOptions } from "./forks/plan-restart.ts";
export type { ActiveNode } from "./handle/active-paths.ts";
export type { WaitOptions } from "./handle/end-of-wait.ts";
export type { CancelOptions, EventPage, EventsQuery, Place, ResumeOptions, Run, SignalOptions, WaitQuery } from "./handle/run.ts";
export type { StartRunOptions } from "./handle/start-run.ts";
export type { Watched } from "./handle/watch.ts";
export type { LeftExecution } from "./local/time-slice.ts";
export type { EndedExecution } from "./retention/ended-execution.ts";
export type { PruneWithHistoryOptions, PruneWithHistoryReport } from "./retention/prune.ts";
export type { Advanced, Runtime, ScopedRuntime, Worker, WorkOptions } from "./runtime.ts";
export type { FailedExecution, SweepOptions, SweepReport } from "./worker/sweep.ts";
