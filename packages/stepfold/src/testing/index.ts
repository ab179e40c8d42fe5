export type { BlobBench, BlobContractCase } from "./blob-contract-case.ts";
export { blobStoreContract } from "./blob-store-contract.ts";
export type { BrokenBlobStore } from "./broken/blobs/broken-blob-store.ts";
export type { BrokenStore } from "./broken/broken-store.ts";
export { type BrokenFeed, brokenFeeds } from "./broken/feed/broken-feeds.ts";
export type { BrokenQueue } from "./broken/queue/broken-queue.ts";
export { brokenBlobStores } from "./broken-blob-stores.ts";
export { brokenQueues } from "./broken-queues.ts";
export { brokenStores } from "./broken-stores.ts";
export { type FirstCommitOptions, type StepOptions, snapshotAfter, startCommit, stepCommit } from "./commit-builder.ts";
export type { FeedBench, FeedContractCase } from "./contract/feed/feed-contract-case.ts";
export { type ContractCase, isClaimed, type Need, type StoreBench } from "./contract-case.ts";
export { eventFeedContract } from "./event-feed-contract.ts";
export { ContractViolation } from "./expectations.ts";
export { expectGolden, type GoldenOptions } from "./kit/expect-golden.ts";
export type { StepCall } from "./kit/kit.ts";
export { leavesBy, type MockAnswer, type MockCall, type MockTable } from "./kit/mocks.ts";
export { type ReplayCheck, type ReplayCheckOptions, type ReplayDifference, replayCheck } from "./kit/replay-check.ts";
export { TestFailure, type TestFailureReason } from "./kit/test-failure.ts";
export { type TestRun, type TestRunOptions, testRun } from "./kit/test-run.ts";
export { isQueueClaimed, type QueueBench, type QueueContractCase, type QueueNeed } from "./queue-contract-case.ts";
export { ProcessDeath } from "./simulation/effects.ts";
export type { Violation } from "./simulation/ledger.ts";
export { type FaultKind, faultKinds, type SimulationMode } from "./simulation/machines/faults.ts";
export type { SchedulePlan } from "./simulation/plan.ts";
export { type Random, seededRandom } from "./simulation/random.ts";
export { runSchedule, type ScheduleOutcome } from "./simulation/run-schedule.ts";
export type {
  ClientScript,
  Ended,
  OtherWorker,
  Scenario,
  ScenarioOf,
  ScheduleOptions,
  SimulatedClient,
  StoreWorld,
  WakeUps,
} from "./simulation/scenario.ts";
export type { FailedSchedule } from "./simulation/shrink.ts";
export { type SimulateOptions, type SimulationReport, simulate } from "./simulation/simulate.ts";
export type { WorkflowScenarioOptions } from "./simulation/workflow-scenario.ts";
export { snapshotStoreContract } from "./snapshot-store-contract.ts";
export { type VirtualEnvironment, virtualEnvironment } from "./virtual-environment.ts";
export { workQueueContract } from "./work-queue-contract.ts";
