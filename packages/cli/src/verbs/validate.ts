import { dirname } from "node:path";
import { checkWorkflow, type WorkflowDefinition } from "stepfold";
import { exitCode } from "../exit-code.ts";
import { findConfig } from "../find-config.ts";
import { readJsonFile } from "../json/read-json-file.ts";
import { loadConfig } from "../load-config.ts";
import { say } from "../output.ts";
import { paintFor } from "../progress/paint.ts";
import { nodeDefinitionsOf } from "../session.ts";
import { issueLines, type LocatedIssue, locatedIssues } from "../workflow-issues.ts";

/** Options of `stepfold validate`. */
export interface ValidateOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** `stepfold validate FILE`: every mistake of a workflow at once, with its place in the file. @returns the exit code */
export async function validate(path: string, options: ValidateOptions): Promise<number> {
  const config = await loadConfig(findConfig(options.config, [dirname(path), "."]));
  const file = readJsonFile(path, "a workflow");
  const issues = locatedIssues(file, checkWorkflow(file.value, nodeDefinitionsOf(config)));
  const valid = issues.every(({ severity }) => severity !== "error");
  if (options.json) say(`${JSON.stringify({ type: "validation", file: path, valid, issues })}\n`);
  else say(report(path, file.value as WorkflowDefinition, issues, valid));
  return valid ? exitCode.done : exitCode.badInput;
}

function report(path: string, workflow: WorkflowDefinition, issues: readonly LocatedIssue[], valid: boolean): string {
  const paint = paintFor(process.stdout);
  const lines = issueLines(path, issues, paint);
  const errors = issues.filter(({ severity }) => severity === "error").length;
  const warnings = issues.length - errors;
  const counts = [errors && counted(errors, "error"), warnings && counted(warnings, "warning")].filter(Boolean).join(" and ");
  const verdict = valid
    ? `${paint("good", "✔")} ${path} can run: ${workflow.id}, ${counted(workflow.nodes.length, "node")}, ${counted(workflow.edges.length, "edge")}`
    : `${paint("bad", "✖")} ${path} cannot run`;
  return `${[...lines, verdict + (counts && `, ${counts}`)].join("\n")}\n`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
