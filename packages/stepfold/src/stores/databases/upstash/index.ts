export { type UpstashClient, type UpstashStoreOptions, upstashStore } from "./upstash-store.ts";
