export type { ConsumeOptions, Consumer, Delivery, QueueFeatures, WakeUp, WorkQueue } from "../ports/work-queue.ts";
export type { RuntimeOptions } from "./context/runtime-options.ts";
export { createRuntime } from "./create-runtime.ts";
export type { ActiveNode } from "./handle/active-paths.ts";
export type { WaitOptions } from "./handle/end-of-wait.ts";
export type { CancelOptions, Place, ResumeOptions, Run, SignalOptions, WaitQuery } from "./handle/run.ts";
export type { Watched } from "./handle/watch.ts";
export type { EndedExecution, PruneWithHistoryOptions } from "./retention/prune.ts";
export type { Advanced, Runtime, Worker, WorkOptions } from "./runtime.ts";
