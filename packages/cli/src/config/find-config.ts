import { lstatSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { Snapshot, SnapshotHead } from "stepfold";
import { BadInput } from "../bad-input.ts";
import { namePath } from "../name-path.ts";
import { printable } from "../text/printable.ts";

const names = ["stepfold.config.ts", "stepfold.config.js", "stepfold.config.mjs"];
const metadataKey = "stepfold.config";

/**
 * The config file that a command goes by: the one that was named, else that of the working directory; null if there is none.
 * A config is code, so one that lies beside another file, or in a folder above, is never read unless it is named.
 *
 * @throws BadInput `CONFIG_NOT_FOUND`; `CONFIG_UNTRUSTED` if the one of the working directory belongs to another user
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
 * The config to go on with: as `findConfig`, if the execution was started with that one or without any.
 *
 * @throws BadInput `CONFIG_ELSEWHERE` if it was started with another: whoever can write metadata could name any file
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

/** A config beside a file that was not read, because it was not named. */
export function unreadConfig(file: string, used: string | null): string | null {
  const beside = configIn(dirname(file));
  return beside === used ? null : beside;
}

/** The metadata that is kept with an execution, so that a later command can tell with which config it was started. */
export function rememberConfig(config: string | null, dataFolder: string): Readonly<Record<string, string>> {
  return config === null ? {} : { [metadataKey]: relative(dataFolder, config).replaceAll("\\", "/") };
}

function rememberedConfig({ metadata }: Pick<SnapshotHead, "metadata">, dataFolder: string): string | null {
  const remembered = Object.hasOwn(metadata, metadataKey) ? metadata[metadataKey] : null;
  if (typeof remembered !== "string" || !/\.(?:ts|js|mjs)$/.test(remembered)) return null;
  const path = resolve(dataFolder, remembered);
  return isFile(path) ? path : null;
}

function configIn(folder: string): string | null {
  return names.map((name) => resolve(join(folder, name))).find(isFile) ?? null;
}

/** As git's `safe.directory`: in a folder of somebody else, a command must not run that person's code. */
function refuseForeign(path: string): void {
  const user = process.getuid?.();
  if (user === undefined) return;
  // who owns a link chooses what is run
  const uid = [lstatSync(path).uid, statSync(path).uid].find((one) => one !== user && one !== 0);
  if (uid === undefined) return;
  throw new BadInput("CONFIG_UNTRUSTED", `${namePath(path)} belongs to another user (uid ${uid}), and a config is code`, {
    hint: `If you trust it, add: --config ${namePath(path)}`,
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
