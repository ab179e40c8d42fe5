import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where databases are made: the folder that bench/main.ts chose on a real disk. */
export const folderVariable = "STEPFOLD_BENCH_FOLDER";

/** A checkout of another version, built, which the group start measures beside this one. */
export const otherVariable = "STEPFOLD_BENCH_OTHER";

/** Where databases are to be made: that folder, or the system's for temporary files. */
export function databaseFolder(): string {
  return process.env[folderVariable] ?? tmpdir();
}

/** Gives `work` a place for a database file, and removes it afterwards. */
export async function withDatabase<T>(work: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(databaseFolder(), "database-"));
  try {
    return await work(join(folder, "bench.db"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
