import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { isClaimed, type StoreBench, snapshotStoreContract } from "../../testing/index.ts";
import { sqliteStore } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function sqliteBench(path: string): StoreBench {
  let now = 1_000_000;
  // what a power loss would cost is no matter here; waiting for the disk is
  const open = () => sqliteStore(path, { now: () => now, idempotencyRetentionMs: 1000, synchronous: "NORMAL" });
  const advance = async (durationMs: number): Promise<void> => {
    now += durationMs;
  };
  return { store: open(), retentionMs: 1000, open: async () => open(), advance };
}

describe.each([
  ["a file", (index: number) => join(folder, `${index}.db`)],
  ["memory", () => ":memory:"],
])("SnapshotStore contract: SQLite in %s", (_, pathOf) => {
  for (const [index, contractCase] of snapshotStoreContract.entries()) {
    it(contractCase.name, async ({ skip }) => {
      const bench = sqliteBench(pathOf(index));
      try {
        if (!isClaimed(contractCase, bench.store.features)) skip(`not claimed: ${contractCase.needs}`);
        await contractCase.run(bench);
      } finally {
        await bench.store.close();
      }
    });
  }
});
