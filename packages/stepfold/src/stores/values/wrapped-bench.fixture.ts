import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll } from "vitest";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { StoreBench } from "../../testing/index.ts";
import { memoryBench } from "../../testing/memory-bench.fixture.ts";
import { contractOf } from "../../testing/store-contract.fixture.ts";
import { sqliteStore } from "../sqlite/sqlite-store.ts";

/** A folder that is gone after the tests of the file. */
export function testFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `stepfold-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An empty SQLite file whose clock moves only when told. */
function fileBench(path: string): StoreBench {
  let now = 1_000_000;
  const open = () => sqliteStore(path, { now: () => now, idempotencyRetentionMs: 1000, synchronous: "NORMAL" });
  const advance = async (durationMs: number): Promise<void> => {
    now += durationMs;
  };
  const damage = async (workflowId: string): Promise<void> => {
    const db = new DatabaseSync(path);
    db.prepare("UPDATE executions SET head = '{' WHERE id = ?").run(workflowId);
    db.close();
  };
  return { store: open(), retentionMs: 1000, open: async () => open(), advance, damage };
}

/** The whole contract on a wrapped store, over memory and over a file. */
export function wrappedContract(name: string, wrap: (inner: SnapshotStore, index: number) => SnapshotStore): void {
  const folder = testFolder(name);
  const wrapped = (bench: StoreBench, index: number): StoreBench => {
    return { ...bench, store: wrap(bench.store, index), open: async () => wrap(await bench.open(), index) };
  };
  contractOf(name, { over: "memory", bench: async (index) => wrapped(memoryBench(), index) });
  contractOf(name, { over: "SQLite in a file", bench: async (index) => wrapped(fileBench(join(folder, `${index}.db`)), index) });
}
