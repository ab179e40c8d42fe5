import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { BadInput } from "../bad-input.ts";
import { findConfig } from "../config/find-config.ts";

/** The folder whose workflows `stepfold dev` runs. */
export const workflowsFolder = "workflows";

/** The files of a project. */
export interface ProjectFiles {
  /** Absolute path of the config; null: there is none. */
  readonly config: string | null;
  /** Absolute paths of the files with workflows. */
  readonly workflows: readonly string[];
}

/**
 * Finds the config and the workflows: the files that are named, or all JSON files in `workflows/`.
 *
 * @throws BadInput `FILE_NOT_FOUND`, `CONFIG_NOT_FOUND`, `CONFIG_UNTRUSTED`
 */
export function findProject(named: readonly string[], config: string | undefined): ProjectFiles {
  const missing = named.find((file) => !existsSync(file));
  if (missing !== undefined)
    throw new BadInput("FILE_NOT_FOUND", `There is no file ${missing}`, { hint: "Name files of workflows, or none for workflows/*.json" });
  return { config: findConfig(config), workflows: named.length > 0 ? named.map((file) => resolve(file)) : filesInFolder() };
}

function filesInFolder(): readonly string[] {
  if (!existsSync(workflowsFolder)) return [];
  const names = readdirSync(workflowsFolder).filter((name) => name.endsWith(".json") && !name.startsWith("."));
  return names.sort().map((name) => resolve(join(workflowsFolder, name)));
}
