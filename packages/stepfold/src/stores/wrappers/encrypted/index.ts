export { type EncryptedStoreOptions, encryptedStore } from "./encrypted-store.ts";
export { executionsWithKey } from "./executions-with-key.ts";
export type { EncryptionKey } from "./key-ring.ts";
