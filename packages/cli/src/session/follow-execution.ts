import { explain, type Snapshot, StepfoldError } from "stepfold";
import type { Run } from "stepfold/runtime";
import type { LoadedConfig } from "../config/config.ts";
import { answerable, type CommandContext, commandLine } from "../execution/next-command.ts";
import { exitCodeOf } from "../exit-code.ts";
import { namePath } from "../name-path.ts";
import { chooseProgress, complain } from "../output.ts";
import { programName } from "../program-name.ts";
import type { Progress } from "../progress/progress.ts";
import type { Database, Store } from "../store/database.ts";
import { storedWorkflow } from "../store/stored-workflow.ts";
import { nodeWidth } from "../text/node-width.ts";
import { currentUser } from "./current-user.ts";
import { type Followed, follow } from "./follow.ts";
import type { Interruption } from "./interruption.ts";
import { nodeDefinitionsOf, type Session } from "./session.ts";

/** What is needed to show an execution and the commands for it. */
export interface Showing {
  readonly store: Store;
  readonly database: Database;
  readonly config: LoadedConfig;
  readonly configPath: string | null;
  /** True if the user has named the config: printed commands have to name it too. */
  readonly isConfigNamed: boolean;
}

/** How to drive an execution, and how to show it. */
export interface FollowOptions extends Showing {
  readonly session: Session;
  readonly run: Run;
  readonly interruption: Interruption;
  /** The execution before this command; null if this command has started it. */
  readonly before: Snapshot | null;
  readonly json: boolean;
  /** With `--exit-code`: an execution that waits gets an exit code of its own. */
  readonly tellPause: boolean;
  /** False: this process has not the code for the execution, and only shows how it stands. Default: true. */
  readonly drives?: boolean;
  /** Returns the command that goes on after an interruption. */
  readonly repeatCommand: (context: CommandContext) => string;
}

/** Drives an execution to its end or its next pause, and shows it. @returns the exit code */
export async function followExecution(options: FollowOptions): Promise<number> {
  const { run, session, json, interruption, before, drives = true } = options;
  const current = await run.snapshot();
  const context = await commandContext(current, options);
  const progress = chooseProgress(json, nodeWidth(context.workflow), context, session.now);
  interruption.beforeTelling(progress.close);
  try {
    progress.begin(before ?? current, before !== null);
    const followed = drives ? await runToPause(options, progress) : null;
    const { snapshot, at, interrupted } = followed ?? { snapshot: await run.snapshot(), at: null, interrupted: null };
    progress.end({
      snapshot,
      at,
      now: session.now(),
      waits: answerable(snapshot, context),
      sentence: explain(snapshot, context.workflow ?? undefined).sentence,
      show: commandLine({ ...context, flags: databaseFlags(options.database) }, "show", [snapshot.workflowId], ["--json"]),
      restart:
        snapshot.status === "failed"
          ? { command: commandLine(context, "restart", [snapshot.workflowId], []), definition: definitionWord(snapshot, options.config) }
          : null,
      interrupted: interrupted === null ? null : options.repeatCommand(context),
    });
    return interrupted ?? exitCodeOf(snapshot.status, options.tellPause);
  } finally {
    progress.close();
  }
}

/** Drives an execution. Null: the code of this process does not take its definition, which is told; a worker goes on with it. */
async function runToPause({ run, session, interruption, before, json }: FollowOptions, progress: Progress): Promise<Followed | null> {
  session.begin();
  try {
    return await follow(run, before?.version ?? -1, session, progress, interruption);
  } catch (error) {
    if (!StepfoldError.is(error, "WORKFLOW_LEFT")) throw error;
    if (!json) complain(`${error.message}\n`);
    return null;
  }
}

/** The words after `--definition` with which an execution goes on by the present definition of its workflow. */
function definitionWord({ definition: { id } }: Snapshot, { workflows = [] }: LoadedConfig): string {
  return workflows.some((one) => (one as { readonly id?: unknown }).id === id) ? id : "@FILE";
}

/** Collects what is needed to print commands for an execution. */
export async function commandContext(snapshot: Snapshot, showing: Showing): Promise<CommandContext> {
  const { store, database, configPath, isConfigNamed, config } = showing;
  const nodeDefinitions = nodeDefinitionsOf(config);
  return {
    program: programName(),
    flags: [...databaseFlags(database), ...(configPath !== null && isConfigNamed ? ["--config", namePath(configPath)] : [])],
    workflow: await storedWorkflow(store, snapshot),
    resumeSchema: (type) => (Object.hasOwn(nodeDefinitions, type) ? nodeDefinitions[type]?.resume : undefined),
    user: currentUser(),
  };
}

function databaseFlags({ flag }: Database): string[] {
  return flag === null ? [] : ["--store", flag];
}
