import { lstatSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { Snapshot, SnapshotHead } from "stepfold";
import { BadInput } from "../bad-input.ts";
import { namePath } from "../name-path.ts";
import { printable } from "../text/printable.ts";

/** The names of config files, in the order in which they are looked for. */
const names = ["stepfold.config.ts", "stepfold.config.mts", "stepfold.config.js", "stepfold.config.mjs"];
/** The key in the metadata under which an execution remembers its config, as a path relative to the folder of the database. */
const metadataKey = "stepfold.config";

/**
 * Finds the config file of a command: the one that was named, else the one in the working directory; null if there is none.
 * A config is code, so a config beside another file, or in a folder above, is read only if it is named.
 *
 * @throws BadInput `CONFIG_NOT_FOUND`; `CONFIG_UNTRUSTED` if the config in the working directory belongs to another user
 */
export function findConfig(named?: string): string | null {
  if (named === undefined) {
    const found = configIn(".");
    if (found !== null) refuseForeign(found);
    return found;
  }
  const path = resolve(named);
  if (isFile(path)) return path;
  throw new BadInput("CONFIG_NOT_FOUND", `There is no config file ${named}`, { hint: "Give --config the path of a stepfold.config.ts" });
}

/**
 * Finds the config for an existing execution, as `findConfig` does. A config that is not named must be the one that the execution
 * was started with, unless the execution was started without one, or that file is gone.
 *
 * @throws BadInput `CONFIG_ELSEWHERE` if the execution was started with another config. That one is not read on its own, because
 * anybody who can write metadata could name any file
 */
export function configOf(snapshot: Snapshot, named: string | undefined, dataFolder: string): string | null {
  const found = findConfig(named);
  const remembered = named === undefined ? rememberedConfig(snapshot, dataFolder) : null;
  if (remembered === null || remembered === found) return found;
  const path = printable(namePath(remembered), 200);
  throw new BadInput("CONFIG_ELSEWHERE", `${snapshot.workflowId} was started with ${path}, which is not the config of this folder`, {
    hint: `A config is code. If you trust this one, add: --config ${path}`,
    details: { config: remembered },
  });
}

/** Returns the config beside a file if it is not the one that is used; null if there is no such config. */
export function unreadConfig(file: string, used: string | null): string | null {
  const beside = configIn(dirname(file));
  return beside === used ? null : beside;
}

/** Returns the metadata that is kept with an execution, from which a later command learns the config it was started with. */
export function rememberConfig(config: string | null, dataFolder: string): Readonly<Record<string, string>> {
  return config === null ? {} : { [metadataKey]: relative(dataFolder, config).replaceAll("\\", "/") };
}

/** Returns the config that the metadata names; null if they name none, or no script that exists. */
function rememberedConfig({ metadata }: Pick<SnapshotHead, "metadata">, dataFolder: string): string | null {
  const remembered = Object.hasOwn(metadata, metadataKey) ? metadata[metadataKey] : null;
  if (typeof remembered !== "string" || !/\.(?:ts|mts|js|mjs)$/.test(remembered)) return null;
  const path = resolve(dataFolder, remembered);
  return isFile(path) ? path : null;
}

function configIn(folder: string): string | null {
  return names.map((name) => resolve(join(folder, name))).find(isFile) ?? null;
}

/** Refuses a config of another user, as git's `safe.directory` does: a command must not run the code of another user. */
function refuseForeign(path: string): void {
  const user = process.getuid?.();
  if (user === undefined) return;
  // the owner of a symbolic link chooses which file is run, so the link and its target are both checked; root (uid 0) is trusted
  const uid = [lstatSync(path).uid, statSync(path).uid].find((one) => one !== user && one !== 0);
  if (uid === undefined) return;
  throw new BadInput("CONFIG_UNTRUSTED", `${namePath(path)} belongs to another user (uid ${uid}), and a config is code`, {
    hint: `If you trust it, add: --config ${namePath(path)}`,
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
