export type { MoveReport } from "./move-executions.ts";
export { type TieredStore, type TieredStoreOptions, tieredStore } from "./tiered-store.ts";
