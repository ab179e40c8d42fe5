import { existsSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { SnapshotHead } from "stepfold";
import { BadInput } from "../bad-input.ts";

const names = ["stepfold.config.ts", "stepfold.config.js", "stepfold.config.mjs"];
const metadataKey = "stepfold.config";

/**
 * The config file that a command goes by: the one that was named, else the first found in `folders` and upwards from
 * them; null if there is none.
 *
 * @throws BadInput `CONFIG_NOT_FOUND`
 */
export function findConfig(named: string | undefined, folders: readonly string[]): string | null {
  if (named !== undefined) {
    const path = resolve(named);
    if (isFile(path)) return path;
    throw new BadInput("CONFIG_NOT_FOUND", `There is no config file ${named}`, { hint: "Give --config the path of a stepfold.config.ts" });
  }
  for (const folder of folders) {
    const found = lookUpwards(resolve(folder));
    if (found !== null) return found;
  }
  return null;
}

/** The metadata that is kept with an execution, so that a later command uses the same config. */
export function rememberConfig(config: string | null, dataFolder: string): Readonly<Record<string, string>> {
  return config === null ? {} : { [metadataKey]: relative(dataFolder, config).replaceAll("\\", "/") };
}

/** The config that an execution was started with, if it is still there. */
export function rememberedConfig({ metadata }: Pick<SnapshotHead, "metadata">, dataFolder: string): string | null {
  const remembered = Object.hasOwn(metadata, metadataKey) ? metadata[metadataKey] : null;
  if (typeof remembered !== "string" || !/\.(?:ts|js|mjs)$/.test(remembered)) return null;
  const path = resolve(dataFolder, remembered);
  return isFile(path) ? path : null;
}

/** Looks for a config from a folder upwards, as far as the root of the repository. */
function lookUpwards(from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = names.map((name) => join(folder, name)).find(isFile);
    if (found !== undefined) return found;
    if (existsSync(join(folder, ".git")) || dirname(folder) === folder) return null;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
