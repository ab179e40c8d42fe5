export type { ConsumeOptions, Consumer, Delivery, QueueFeatures, WakeUp, WorkQueue } from "../ports/work-queue.ts";
export { createRuntime } from "./create-runtime.ts";
export type { CancelOptions, Place, ResumeOptions, Run, SignalOptions } from "./handle/run.ts";
export type { ActiveNode, Watched } from "./handle/watch.ts";
export type { EndedExecution, PruneWithHistoryOptions } from "./retention/prune.ts";
export type { Advanced, Runtime, RuntimeOptions, Worker, WorkOptions } from "./runtime.ts";
