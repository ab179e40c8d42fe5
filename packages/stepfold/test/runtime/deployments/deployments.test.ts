import { memoryQueue } from "../../../src/queues/memory/memory-queue.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { mixedWorkers } from "./mixed-workers.fixture.ts";
import { stricterCode } from "./stricter-code.fixture.ts";

stricterCode("memory", async () => memoryStore());
stricterCode("SQLite", async () => sqliteStore(":memory:"));
mixedWorkers("memory", async () => memoryStore());
mixedWorkers("SQLite", async () => sqliteStore(":memory:"));
mixedWorkers(
  "memory",
  async () => memoryStore(),
  async () => memoryQueue(),
);
mixedWorkers(
  "SQLite",
  async () => sqliteStore(":memory:"),
  async () => memoryQueue(),
);
