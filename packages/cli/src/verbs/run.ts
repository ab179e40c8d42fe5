import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { checkWorkflow, definitionHash, type Snapshot, StepfoldError, type WorkflowDefinition } from "stepfold";
import type { Run } from "stepfold/runtime";
import { BadInput } from "../bad-input.ts";
import { cleanup } from "../cleanup.ts";
import type { StepfoldConfig } from "../config.ts";
import { chooseDatabase, openDatabase } from "../database.ts";
import { driveExecution } from "../drive-execution.ts";
import { findConfig, rememberConfig } from "../find-config.ts";
import { listenForInterruption } from "../interruption.ts";
import { jsonArgument } from "../json/json-argument.ts";
import { type JsonFile, readJsonFile } from "../json/read-json-file.ts";
import { loadConfig } from "../load-config.ts";
import { newExecutionId } from "../new-execution-id.ts";
import { commandLine } from "../next-command.ts";
import { complain } from "../output.ts";
import { nodeDefinitionsOf, openSession } from "../session.ts";
import { issueLines, locatedIssues } from "../workflow-issues.ts";

/** Options of `stepfold run`. */
export interface RunOptions {
  readonly input?: string;
  readonly id?: string;
  readonly db?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly exitCode?: boolean;
}

/** `stepfold run FILE`: starts an execution, or goes on with it, to its end or its next pause. @returns the exit code */
export async function run(file: string, options: RunOptions): Promise<number> {
  const configPath = findConfig(options.config, [dirname(file), "."]);
  const config = await loadConfig(configPath);
  const workflow = readWorkflow(file, config);
  const input = options.input === undefined ? undefined : jsonArgument(options.input, "--input");
  const database = chooseDatabase(options.db);
  const workflowId = options.id ?? newExecutionId(workflow.id);
  const closing = cleanup();
  const interruption = listenForInterruption(options.json ?? false);
  closing.add(interruption.stopListening);
  try {
    const store = openDatabase(database);
    closing.add(() => store.close());
    const session = await openSession({ workflowId, store, database, config, configPath, cleanup: closing });
    const before = await store.load(workflowId);
    const started = await start(() =>
      session.runtime.start(workflow, { workflowId, input, metadata: rememberConfig(configPath, database.folder) }),
    );
    if (before && !options.json) noteOtherVersion(before, started, workflow, file);
    return await driveExecution({
      store,
      database,
      config,
      configPath,
      foundConfig: findConfig(undefined, ["."]),
      session,
      interruption,
      run: started,
      before,
      json: options.json ?? false,
      tellPause: options.exitCode ?? false,
      again: (context) =>
        commandLine({ ...context, flags: options.db === undefined ? [] : ["--db", options.db] }, "run", file, [
          ...(options.input === undefined ? [] : ["--input", options.input]),
          "--id",
          workflowId,
          ...(options.config === undefined ? [] : ["--config", options.config]),
        ]),
    });
  } finally {
    await closing.run();
  }
}

/** The definition in a file, or the config's of that id; checked, so that its mistakes have lines and columns. */
function readWorkflow(file: string, config: StepfoldConfig): WorkflowDefinition {
  const known = config.workflows?.find(({ id }) => id === file);
  if (known && !existsSync(file)) return known;
  const read: JsonFile = readJsonFile(file, "a workflow");
  const issues = checkWorkflow(read.value, nodeDefinitionsOf(config), undefined);
  if (issues.some(({ severity }) => severity === "error")) {
    const located = locatedIssues(read, issues);
    throw new BadInput("WORKFLOW_INVALID", `This workflow cannot run:\n${issueLines(read.path, located).join("\n")}`, {
      hint: "Node types of your own come from stepfold.config.ts, beside the file or named with --config",
      details: { file: read.path, issues: located },
    });
  }
  return read.value as WorkflowDefinition;
}

async function start(begin: () => Promise<Run>): Promise<Run> {
  try {
    return await begin();
  } catch (error) {
    if (!StepfoldError.is(error, "START_CONFLICT")) throw error;
    const { workflowId, differs } = error.details;
    throw new BadInput(
      "START_CONFLICT",
      `Execution "${workflowId}" was started before with another ${differs === "input" ? "input" : "workflow"}`,
      {
        hint: `To go on with it, give the same ${differs === "input" ? "--input" : "workflow"}; to start another, choose another --id or leave it out`,
        details: { workflowId, differs },
        cause: error,
      },
    );
  }
}

function noteOtherVersion(before: Snapshot, started: Run, workflow: WorkflowDefinition, file: string): void {
  if (definitionHash(workflow) !== before.definition.hash)
    complain(`${file} has changed since ${started.workflowId} was started; it goes on with the version it was started with\n`);
}
