export type { BrokenStore } from "./broken/broken-store.ts";
export { brokenStores } from "./broken-stores.ts";
export { type StartOptions, type StepOptions, snapshotAfter, startCommit, stepCommit } from "./commit-builder.ts";
export { type ContractCase, isClaimed, type Need, type StoreBench } from "./contract-case.ts";
export { ContractViolation } from "./expectations.ts";
export { snapshotStoreContract } from "./snapshot-store-contract.ts";
export { type VirtualEnvironment, virtualEnvironment } from "./virtual-environment.ts";
