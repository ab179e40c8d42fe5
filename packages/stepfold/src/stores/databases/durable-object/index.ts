export type { ObjectStorage, Sweeper } from "./durable-object-client.ts";
export { type DurableObjectStore, type DurableObjectStoreOptions, durableObjectStore } from "./durable-object-store.ts";
