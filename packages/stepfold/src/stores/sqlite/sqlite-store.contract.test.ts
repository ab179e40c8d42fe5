import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll } from "vitest";
import type { StoreBench } from "../../testing/index.ts";
import { contractOf } from "../../testing/store-contract.fixture.ts";
import { sqliteStore } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function sqliteBench(path: string): Promise<StoreBench> {
  let now = 1_000_000;
  // what a power loss would cost is no matter here; waiting for the disk is
  const open = () => sqliteStore(path, { now: () => now, idempotencyRetentionMs: 1000, synchronous: "NORMAL" });
  const advance = async (durationMs: number): Promise<void> => {
    now += durationMs;
  };
  const damage = async (workflowId: string): Promise<void> => {
    const db = new DatabaseSync(path);
    db.prepare("UPDATE executions SET head = '{' WHERE id = ?").run(workflowId);
    db.close();
  };
  return { store: open(), retentionMs: 1000, open: async () => open(), advance, ...(path !== ":memory:" && { damage }) };
}

contractOf("sqlite", { over: "a file", bench: (index) => sqliteBench(join(folder, `${index}.db`)) });
contractOf("sqlite", { over: "memory", bench: () => sqliteBench(":memory:") });
