import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { storeOver } from "../../../src/stores/kit/store-over.ts";
import type { ToyClient } from "./toy-client.fixture.ts";
import { toyError } from "./toy-error.fixture.ts";
import { ToyTable } from "./toy-table.fixture.ts";

/** A store in the toy database, made as CONTRIBUTING describes it for a new database. */
export function toyStore(client: ToyClient, idempotencyRetentionMs?: number): SnapshotStore {
  return storeOver(new ToyTable(client), { idempotencyRetentionMs, errorOf: toyError });
}
