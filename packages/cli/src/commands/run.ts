import { type Snapshot, StepfoldError, type WorkflowDefinition, WorkflowEngine } from "stepfold";
import type { Run, Runtime, StartRunOptions } from "stepfold/runtime";
import { BadInput } from "../bad-input.ts";
import { cleanup } from "../cleanup.ts";
import type { LoadedConfig } from "../config/config.ts";
import { findConfig, rememberConfig } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { newExecutionId } from "../execution/new-execution-id.ts";
import { commandLine } from "../execution/next-command.ts";
import { jsonArgument } from "../json/json-argument.ts";
import { complain } from "../output.ts";
import { followExecution } from "../session/follow-execution.ts";
import { listenForInterruption } from "../session/interruption.ts";
import { optionWords } from "../session/move-execution.ts";
import { requireWorkflow } from "../session/read-workflow.ts";
import { nodeDefinitionsOf, openSession } from "../session/session.ts";
import { chooseDatabase, openDatabase } from "../store/database.ts";

/** The most stacks of failed steps that are printed: those of the latest failures. */
const maxStacks = 3;

/** Options of `stepfold run`. */
export interface RunOptions {
  readonly input?: string;
  readonly id?: string;
  readonly timeout?: string;
  readonly deadline?: string;
  readonly taskQueue?: string;
  readonly store?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly exitCode?: boolean;
}

/** `stepfold run FILE`: starts an execution or finds an existing one, and drives it to its end or its next pause. @returns the exit code */
export async function run(file: string, options: RunOptions): Promise<number> {
  const configPath = findConfig(options.config);
  const config = await loadConfig(configPath);
  const workflow = requireWorkflow(file, config, configPath);
  const input = options.input === undefined ? undefined : await jsonArgument(options.input, "--input");
  const database = chooseDatabase(options.store);
  const workflowId = options.id ?? newExecutionId(workflow.id);
  const closing = cleanup();
  const interruption = listenForInterruption(options.json ?? false);
  closing.add(interruption.stopListening);
  try {
    const store = await openDatabase(database);
    closing.add(() => store.close());
    const session = await openSession({ workflowId, store, database, config, configPath, cleanup: closing });
    const before = await store.load(workflowId);
    const { timeout, deadline, taskQueue } = options;
    const metadata = rememberConfig(configPath, database.folder);
    const started = await startOrFind(session.runtime, workflow, { workflowId, input, metadata, timeout, deadline, taskQueue }, before);
    if (before && !options.json) noteOtherVersion(before, workflow, file, config);
    const exitCode = await followExecution({
      store,
      database,
      config,
      configPath,
      isConfigNamed: options.config !== undefined,
      session,
      interruption,
      run: started,
      before,
      json: options.json ?? false,
      tellPause: options.exitCode ?? false,
      repeatCommand: (context) =>
        commandLine(
          { ...context, flags: [] },
          "run",
          [file],
          optionWords({
            "--input": options.input?.trim() === "-" ? JSON.stringify(input) : options.input,
            "--id": workflowId,
            "--timeout": options.timeout,
            "--deadline": options.deadline,
            "--config": options.config,
            "--store": database.flag ?? undefined,
          }),
        ),
    });
    if (!options.json) for (const stack of session.stacks.slice(-maxStacks)) complain(`${stack}\n`);
    return exitCode;
  } finally {
    await closing.run();
  }
}

/** Starts an execution, or finds the one that was started before. */
async function startOrFind(
  runtime: Runtime,
  workflow: WorkflowDefinition,
  options: StartRunOptions & { readonly workflowId: string },
  before: Snapshot | null,
): Promise<Run> {
  const { workflowId } = options;
  try {
    return await runtime.start(workflow, options);
  } catch (error) {
    if (!StepfoldError.is(error, "START_CONFLICT")) throw error;
    const { differs } = error.details;
    // the file has another version of the same workflow: the execution goes on with the version that it was started with
    if (differs === "definition" && before?.definition.id === workflow.id) return runtime.get(workflowId);
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

function noteOtherVersion(before: Snapshot, workflow: WorkflowDefinition, file: string, config: LoadedConfig): void {
  // the sub-workflows are needed too, because the hash that an execution is pinned to covers them
  const now = new WorkflowEngine({ workflow, workflows: config.workflows ?? [], nodeDefinitions: nodeDefinitionsOf(config) });
  if (now.workflow.hash !== before.definition.hash)
    complain(`${file} has changed since ${before.workflowId} was started; it goes on with the version it was started with\n`);
}
