import { posix } from "node:path";
import type { Violation } from "./violation.ts";

const maxFiles = 25;

/** Folders that may break a rule for the time being, each with the reason. */
export type FolderExceptions = Readonly<Record<string, string>>;

/** Finds folders with too many files to keep an overview, tests included. */
export function checkFolderSizes(paths: readonly string[], exceptions: FolderExceptions = {}): Violation[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([folder, count]) => count > maxFiles && !isExcepted(folder, exceptions))
    .map(([path, count]) => ({ rule: "folders", path, message: `${count} files, more than ${maxFiles}` }));
}

/** Finds fixtures among the sources. Code that several tests need belongs in the package's `test` folder. */
export function checkFixtures(paths: readonly string[], exceptions: FolderExceptions = {}): Violation[] {
  return paths
    .filter((path) => path.includes("/src/") && path.endsWith(".fixture.ts") && !isExcepted(posix.dirname(path), exceptions))
    .map((path) => ({ rule: "fixtures", path, message: "is a fixture among the sources: it belongs into the package's test folder" }));
}

function isExcepted(folder: string, exceptions: FolderExceptions): boolean {
  return Object.keys(exceptions).some((one) => folder === one || folder.startsWith(`${one}/`));
}
