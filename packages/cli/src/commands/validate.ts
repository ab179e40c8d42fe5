import type { WorkflowDefinition } from "stepfold";
import { findConfig, unreadConfig } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { exitCode } from "../exit-code.ts";
import { issueLines, type LocatedIssue } from "../json/workflow-issues.ts";
import { namePath } from "../name-path.ts";
import { complain, say } from "../output.ts";
import { readWorkflow } from "../session/read-workflow.ts";
import { paintFor } from "../text/paint.ts";

/** Options of `stepfold validate`. */
export interface ValidateOptions {
  /** The path of the config. False (`--no-config`): no config is read, so no code of the user runs. */
  readonly config?: string | false;
  readonly json?: boolean;
}

/** `stepfold validate FILE`: reports every mistake of a workflow at once, each with its place in the file. @returns the exit code */
export async function validate(path: string, options: ValidateOptions): Promise<number> {
  const configPath = options.config === false ? null : findConfig(options.config);
  const config = await loadConfig(configPath);
  const { workflow, issues, valid } = readWorkflow(path, config);
  if (options.json) {
    say(`${JSON.stringify({ type: "validation", file: path, valid, issues })}\n`);
  } else {
    say(report(path, workflow, issues, valid));
    // one that was passed over for a config that is named is not asked for
    const unread = typeof options.config === "string" ? null : unreadConfig(path, configPath);
    if (unread !== null) complain(`${namePath(unread)} was not read. If you trust it, add: --config ${namePath(unread)}\n`);
  }
  return valid ? exitCode.done : exitCode.badInput;
}

function report(path: string, workflow: WorkflowDefinition, issues: readonly LocatedIssue[], valid: boolean): string {
  const paint = paintFor(process.stdout);
  const lines = issueLines(path, issues, paint);
  const errors = issues.filter(({ severity }) => severity === "error").length;
  const warnings = issues.length - errors;
  const counts = [errors && counted(errors, "error"), warnings && counted(warnings, "warning")].filter(Boolean).join(" and ");
  const verdict = valid
    ? `${paint("good", "✔")} ${path} can run: ${workflow.id}, ${sizeOf(workflow)}`
    : `${paint("bad", "✖")} ${path} cannot run`;
  return `${[...lines, verdict + (counts && `, ${counts}`)].join("\n")}\n`;
}

/** Says how much a workflow is. What code will ask for is known only while it runs. */
function sizeOf({ code, nodes, edges }: WorkflowDefinition): string {
  return code === undefined ? `${counted(nodes.length, "node")}, ${counted(edges.length, "edge")}` : "written as code";
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
