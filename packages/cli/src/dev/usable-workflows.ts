import { checkWorkflow, defaultLimits, type WorkflowDefinition } from "stepfold";
import { BadInput } from "../bad-input.ts";
import type { LoadedConfig } from "../config/config.ts";
import { readJsonFile } from "../json/read-json-file.ts";
import { issueLines, locatedIssues } from "../json/workflow-issues.ts";
import { namePath } from "../name-path.ts";
import { nodeDefinitionsOf } from "../session/session.ts";
import type { FromWorker, WorkerProject } from "./dev-messages.ts";
import { failureOf } from "./failure-of.ts";

/** The workflows that can run with the present code. */
export interface UsableWorkflows {
  /** Those of files, by their paths. */
  readonly used: Readonly<Record<string, WorkflowDefinition>>;
  /** All, with those of the config. */
  readonly workflows: readonly WorkflowDefinition[];
}

type Report = (message: FromWorker & { readonly type: "invalid" | "doubted" }) => void;
type Checked = { readonly definition: WorkflowDefinition } | { readonly message: string };

/**
 * Finds the workflows of the config and of files that can run. A file that cannot is reported, and its last good version is used. Of two
 * files with the same id the one is used that had it before, or else the first one.
 *
 * @throws BadInput `WORKFLOW_INVALID` if the last good version of a file cannot run with this code, and another process can run it
 */
export function usableWorkflows(project: WorkerProject, config: LoadedConfig, report: Report): UsableWorkflows {
  const used: Record<string, WorkflowDefinition> = {};
  const fileOf = (id: string): string | undefined => Object.keys(used).find((file) => used[file]!.id === id);
  const { good } = project as { readonly good: UsableWorkflows["used"] };
  const checked = project.workflows.map((file) => ({ file, checked: checkFile(file, config, report) }));
  const isOwner = (one: (typeof checked)[number]): boolean =>
    "definition" in one.checked && good[one.file]?.id === one.checked.definition.id;
  for (const { file, checked: found } of [...checked.filter(isOwner), ...checked.filter((one) => !isOwner(one))]) {
    const other = "definition" in found ? fileOf(found.definition.id) : undefined;
    if ("definition" in found && other === undefined) {
      used[file] = found.definition;
      continue;
    }
    const message = "message" in found ? found.message : sameId(found.definition.id, other!);
    report({ type: "invalid", file, message });
    const before = good[file];
    if (!before || fileOf(before.id) !== undefined) continue;
    if (fits(before, config)) used[file] = before;
    else if (project.hasEarlier)
      throw new BadInput("WORKFLOW_INVALID", `${namePath(file)} cannot run with the present code, and neither can its last good version`);
  }
  const own = Object.values(used);
  // a file counts more than a workflow of the config with the same id
  return { used, workflows: [...own, ...(config.workflows ?? []).filter(({ id }) => !own.some((one) => one.id === id))] };
}

function sameId(id: string, other: string): string {
  return `${namePath(other)} has the id "${id}" too, and is used: give each workflow an id of its own`;
}

function checkFile(file: string, config: LoadedConfig, report: Report): Checked {
  const limits = { ...defaultLimits, ...config.limits };
  try {
    const read = readJsonFile(file, "a workflow", 4 * limits.definitionBytes);
    const others = config.workflows ?? [];
    const issues = locatedIssues(read, checkWorkflow(read.value, nodeDefinitionsOf(config), limits, others), others);
    const errors = issues.filter(({ severity }) => severity === "error");
    if (errors.length > 0) return { message: issueLines(file, errors).join("\n") };
    const doubts = issueLines(file, issues).join("\n");
    if (doubts !== "") report({ type: "doubted", file, message: doubts });
    return { definition: read.value as WorkflowDefinition };
  } catch (error) {
    return { message: failureOf(error).message };
  }
}

function fits(definition: WorkflowDefinition, config: LoadedConfig): boolean {
  const issues = checkWorkflow(definition, nodeDefinitionsOf(config), { ...defaultLimits, ...config.limits }, config.workflows ?? []);
  return issues.every(({ severity }) => severity !== "error");
}
