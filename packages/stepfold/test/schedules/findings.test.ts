import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { sqliteStore } from "../../src/stores/databases/sqlite/index.ts";
import { scheduleFindings } from "./findings.fixture.ts";

scheduleFindings("memory", async () => memoryStore());
scheduleFindings("SQLite", async () => sqliteStore(":memory:"));
