export type { ConsumeOptions, Consumer, Delivery, QueueFeatures, WakeUp, WorkQueue } from "../ports/work-queue.ts";
export { createRuntime } from "./create-runtime.ts";
export type { EndedExecution, PruneWithHistoryOptions } from "./prune.ts";
export type { CancelOptions, Place, ResumeOptions, Run, SignalOptions } from "./run.ts";
export type { Advanced, Runtime, RuntimeOptions, Worker, WorkOptions } from "./runtime.ts";
export type { ActiveNode, Watched } from "./watch.ts";
