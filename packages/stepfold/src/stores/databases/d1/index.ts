export type { D1Client, D1Rows, D1Statement } from "./d1-client.ts";
export { d1Migrations, migrateD1 } from "./d1-schema.ts";
export { type D1StoreOptions, d1Store } from "./d1-store.ts";
