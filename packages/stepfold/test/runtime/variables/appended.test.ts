import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { blobbedStore } from "../../../src/stores/wrappers/blobs/blobbed-store.ts";
import { compressedStore } from "../../../src/stores/wrappers/compressed/compressed-store.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/encrypted-store.ts";
import { tieredStore } from "../../../src/stores/wrappers/tiered/tiered-store.ts";
import { memoryBlobs } from "../../stores/values/values.fixture.ts";
import { appendedItems } from "./appended.fixture.ts";

const compressed = (inner: SnapshotStore): SnapshotStore => compressedStore(inner, { aboveBytes: 500 });
const encrypted = (inner: SnapshotStore): SnapshotStore => encryptedStore(inner, { keys: [{ id: "k", key: new Uint8Array(32).fill(1) }] });

appendedItems("memory", async () => memoryStore());
appendedItems("SQLite", async () => sqliteStore(":memory:"));
appendedItems("SQLite, compressed", async () => compressed(sqliteStore(":memory:")));
appendedItems("SQLite, encrypted twice", async () => encrypted(encrypted(sqliteStore(":memory:"))));
appendedItems("SQLite, compressed, encrypted and in blobs", async () =>
  compressed(encrypted(blobbedStore(sqliteStore(":memory:"), memoryBlobs(), { aboveBytes: 100 }))),
);
appendedItems("two tiers, compressed", async () => compressed(tieredStore({ hot: sqliteStore(":memory:"), cold: memoryStore() })));
