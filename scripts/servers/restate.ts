import { existsSync } from "node:fs";
import { join } from "node:path";
import { fetchPackage } from "./fetch-package.ts";
import { servicesFolder } from "./services-folder.ts";
import { reasonOf } from "./system.ts";

// The Restate server as published for Linux on x64. It has 216 MB, so it is not a dependency.
const packageVersion = "@restatedev/restate-server-linux-x64@1.7.12";
const packageIntegrity = "sha512-URotJ1AIqaSCDkRMl4OrQfTLH+NYuOZb3ZsP7wxxiuAB6pncgPhTUYSvegTF5PTrAShnNyHNpju9kjf2O3QxoA==";

/** Returns the path of the program, or undefined if it is not installed. Tests start servers of their own, because they kill them. */
export function findRestate(): string | undefined {
  const program = programPath();
  return existsSync(program) ? program : undefined;
}

/** Fetches the program if it is missing, and returns a line with the result. */
export function installRestate(): string {
  const before = findRestate();
  if (process.platform !== "linux" || process.arch !== "x64") return "restate   not there: only fetched for Linux on x64";
  try {
    if (before === undefined) fetchPackage(packageVersion, packageIntegrity, folder(), "bin");
  } catch (error) {
    return `restate   not there: ${reasonOf(error)}`;
  }
  return `restate   ${programPath().padEnd(44)} ${before === undefined ? "fetched" : "already there"}`;
}

function folder(): string {
  return join(servicesFolder(), "restate");
}

function programPath(): string {
  return join(folder(), "package", "bin", "restate-server");
}
