import { existsSync } from "node:fs";
import { installPackages, reasonOf } from "./system.ts";

const path = "/usr/bin/chromium";

/** Returns the path of the browser in which pages are tested, or undefined if it is not installed. */
export function findChromium(): string | undefined {
  const chosen = process.env.CHROMIUM ?? path;
  return existsSync(chosen) ? chosen : undefined;
}

/** Installs the browser if it is missing, and returns a line with the result. */
export function installChromium(): string {
  const before = findChromium();
  try {
    if (before === undefined) installPackages(["chromium"]);
  } catch (error) {
    return `chromium  not there: ${reasonOf(error)}`;
  }
  return `chromium  ${(findChromium() ?? "").padEnd(44)} ${before === undefined ? "installed" : "already there"}`;
}
