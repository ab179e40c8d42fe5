import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { installPackages, reasonOf } from "./system.ts";

/** The Debian package of the library that gives a process another clock. */
export const fakeTimePackage = "libfaketime";

/** Returns the path of the library for programs with threads, or undefined if it is not installed. */
export function findFakeTime(): string | undefined {
  const folders = ["/usr/lib", "/usr/local/lib"].filter(existsSync);
  // Debian has a folder for each architecture
  const candidates = folders.flatMap((folder) => ["", ...readdirSync(folder)].map((one) => join(folder, one, "faketime")));
  return candidates.map((folder) => join(folder, "libfaketimeMT.so.1")).find(existsSync);
}

/** Installs the library if it is missing, and returns a line with the result. It is not a server, but tests need it in the same way. */
export function installFakeTime(): string {
  const before = findFakeTime();
  try {
    if (before === undefined) installPackages([fakeTimePackage]);
  } catch (error) {
    return `faketime  not there: ${reasonOf(error)}`;
  }
  return `faketime  ${(findFakeTime() ?? "").padEnd(44)} ${before === undefined ? "installed" : "already there"}`;
}
