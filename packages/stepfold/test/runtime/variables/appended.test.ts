import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { compressedStore } from "../../../src/stores/wrappers/compressed/compressed-store.ts";
import { appendedItems } from "./appended.fixture.ts";

appendedItems("memory", async () => memoryStore());
appendedItems("SQLite", async () => sqliteStore(":memory:"));
appendedItems("SQLite, compressed", async () => compressedStore(sqliteStore(":memory:")));
