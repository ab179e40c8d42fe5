import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { StoreBench } from "../../../src/testing/index.ts";
import { memoryBench } from "../../testing/memory-bench.fixture.ts";
import { contractOf } from "../../testing/store-contract.fixture.ts";
import { sqliteBench } from "../sqlite/sqlite-bench.fixture.ts";

/** Makes a folder that is deleted after the tests of the file. */
export function testFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `stepfold-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the whole contract on a wrapped store, over a memory store and, as another form, over SQLite in a file. */
export function wrappedContract(name: string, wrap: (inner: SnapshotStore, index: number) => SnapshotStore): void {
  const folder = testFolder(name);
  const wrapped = (bench: StoreBench, index: number): StoreBench => {
    return { ...bench, store: wrap(bench.store, index), open: async () => wrap(await bench.open(), index) };
  };
  contractOf(name, { over: "memory", bench: async (index) => wrapped(memoryBench(), index) });
  contractOf(name, {
    over: "SQLite in a file",
    isOtherForm: true,
    bench: async (index) => wrapped(sqliteBench(join(folder, `${index}.db`)), index),
  });
}
