import { existsSync } from "node:fs";
import { checkWorkflow, defaultLimits, type WorkflowDefinition } from "stepfold";
import { BadInput } from "../bad-input.ts";
import type { LoadedConfig } from "../config/config.ts";
import { unreadConfig } from "../config/find-config.ts";
import { type JsonFile, readJsonFile } from "../json/read-json-file.ts";
import { issueLines, isUnknownType, type LocatedIssue, locatedIssues } from "../json/workflow-issues.ts";
import { namePath } from "../name-path.ts";
import { nodeDefinitionsOf } from "./session.ts";

/** A workflow that was named, with all errors and warnings about it. */
export interface ReadWorkflow {
  readonly workflow: WorkflowDefinition;
  readonly issues: readonly LocatedIssue[];
  /** True if there are no errors; there may be warnings. */
  readonly valid: boolean;
}

/**
 * Reads the workflow in a file, or takes the workflow of the config with that id. Its nodes may name workflows that it contains
 * itself, and workflows of the config.
 *
 * @throws BadInput `FILE_NOT_FOUND`, `JSON_INVALID`, ...
 */
export function readWorkflow(file: string, config: LoadedConfig): ReadWorkflow {
  const { workflows = [], limits = {} } = config;
  const known = existsSync(file) ? undefined : workflows.find(({ id }) => id === file);
  if (!known && !existsSync(file)) refuseUnknownId(file, workflows);
  const bounds = { ...defaultLimits, ...limits };
  // blanks and line breaks of a file do not count for the limit
  const maxBytes = 4 * bounds.definitionBytes;
  const read: JsonFile = known ? { path: file, text: "", value: known } : readJsonFile(file, "a workflow", maxBytes);
  const found = checkWorkflow(read.value, nodeDefinitionsOf(config), bounds, workflows);
  const issues = locatedIssues(read, found, workflows);
  return { workflow: read.value as WorkflowDefinition, issues, valid: issues.every(({ severity }) => severity !== "error") };
}

/** Throws an error that lists the workflows of the config, if one of them may have been meant. @throws BadInput `FILE_NOT_FOUND` */
function refuseUnknownId(file: string, workflows: readonly WorkflowDefinition[]): void {
  // a text with a dot or a slash is the path of a file
  if (workflows.length === 0 || /[./\\]/.test(file)) return;
  const ids = workflows.map(({ id }) => id);
  throw new BadInput("FILE_NOT_FOUND", `There is no file ${file}, and the config has no workflow of that id`, {
    hint: `It has: ${ids.slice(0, 20).join(", ")}${ids.length > 20 ? ", ..." : ""}`,
    details: { file, workflows: ids },
  });
}

/** Reads a workflow that must be able to run. @throws BadInput `WORKFLOW_INVALID` */
export function requireWorkflow(file: string, config: LoadedConfig, configPath: string | null): WorkflowDefinition {
  const { workflow, issues, valid } = readWorkflow(file, config);
  if (valid) return workflow;
  const errors = issues.filter(({ severity }) => severity === "error");
  const unlinked = errors.some(({ code }) => code === "WORKFLOW_UNKNOWN");
  const unread = unreadConfig(file, configPath);
  const where =
    unread === null
      ? "in this folder, or named with --config"
      : `${namePath(unread)} was not read. If you trust it, add: --config ${namePath(unread)}`;
  throw new BadInput("WORKFLOW_INVALID", `This workflow cannot run:\n${issueLines(file, errors).join("\n")}`, {
    hint: unlinked
      ? 'Workflows that others run belong into "workflows" of the file, or of stepfold.config.ts'
      : errors.some(isUnknownType)
        ? `Node types of your own come from stepfold.config.ts: ${where}`
        : null,
    details: { file, issues },
  });
}
