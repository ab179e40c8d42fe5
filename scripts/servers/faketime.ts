import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { installPackages, reasonOf } from "./system.ts";

/** Debian's package of the library that gives a process another clock. */
export const fakeTimePackage = "libfaketime";

/** Where the library is, the one for programs with threads; undefined if it is not installed. */
export function findFakeTime(): string | undefined {
  const folders = ["/usr/lib", "/usr/local/lib"].filter(existsSync);
  // each architecture has a folder of its own in Debian
  const candidates = folders.flatMap((folder) => ["", ...readdirSync(folder)].map((one) => join(folder, one, "faketime")));
  return candidates.map((folder) => join(folder, "libfaketimeMT.so.1")).find(existsSync);
}

/** Installs it where it is missing, and says in a line what came of it: no server, but tests need it as they need servers. */
export function installFakeTime(): string {
  const before = findFakeTime();
  try {
    if (before === undefined) installPackages([fakeTimePackage]);
  } catch (error) {
    return `faketime  not there: ${reasonOf(error)}`;
  }
  return `faketime  ${(findFakeTime() ?? "").padEnd(44)} ${before === undefined ? "installed" : "already there"}`;
}
