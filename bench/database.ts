import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The environment variable with the folder for databases, which bench/main.ts chooses on a real disk. */
export const folderVariable = "STEPFOLD_BENCH_FOLDER";

/** The environment variable with the checkout of another, built version, which the group `start` measures next to this version. */
export const otherVariable = "STEPFOLD_BENCH_OTHER";

/** Returns the folder for databases: that of the variable, or the system's folder for temporary files. */
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
