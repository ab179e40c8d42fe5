import { type Snapshot, StepfoldError } from "stepfold";
import { namesText } from "stepfold/core";
import type { Run } from "stepfold/runtime";
import { cleanup } from "../cleanup.ts";
import { configOf } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { commandLine } from "../execution/next-command.ts";
import { exitCode } from "../exit-code.ts";
import { complain } from "../output.ts";
import { chooseDatabase, openExistingDatabase } from "../store/database.ts";
import { followExecution, type Showing } from "./follow-execution.ts";
import { listenForInterruption } from "./interruption.ts";
import { lackingTypes } from "./lacking-types.ts";
import { openSession } from "./session.ts";

/** Options of every verb that changes an existing execution and drives it on. */
export interface MoveOptions {
  readonly store?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly exitCode?: boolean;
  /** False: the execution is only told, and workers go on with it. */
  readonly drive?: boolean;
}

/** An execution that is about to be changed. */
export interface Moving extends Showing {
  readonly run: Run;
  /** The execution before the change. */
  readonly before: Snapshot;
  /** Prints a note that is not an error. */
  note(text: string): void;
}

/** What a verb does to an execution. */
export interface Move {
  readonly verb: string;
  /** The arguments after the execution's id, for the command that goes on after an interruption. */
  readonly repeatArguments?: readonly string[];
  /** The options of that command. */
  readonly repeatOptions: readonly string[];
  /** Changes the execution. If this throws, nothing was changed. @returns `cancelled` if that status counts as a success of the command */
  act(moving: Moving): Promise<"cancelled" | undefined>;
}

/** Changes an execution, and drives it to its end or its next pause. @returns the exit code */
export async function moveExecution(workflowId: string, options: MoveOptions, move: Move): Promise<number> {
  const { json = false, exitCode: tellPause = false } = options;
  const database = chooseDatabase(options.store);
  const closing = cleanup();
  const interruption = listenForInterruption(json);
  closing.add(interruption.stopListening);
  try {
    const store = await openExistingDatabase(database);
    closing.add(() => store.close());
    const before = await store.load(workflowId);
    if (!before) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
    const configPath = configOf(before, options.config, database.folder);
    const config = await loadConfig(configPath);
    const showing: Showing = { store, database, config, configPath, isConfigNamed: options.config !== undefined };
    const lacking = await lackingTypes(store, before, config);
    const drives = lacking.length === 0 && options.drive !== false;
    const session = await openSession({ workflowId, store, database, config, configPath, cleanup: closing, drives });
    const run = await session.runtime.get(workflowId);
    const note = (text: string): void => {
      if (!json) complain(`${text}\n`);
    };
    const wanted = await move.act({ ...showing, run, before, note });
    if (options.drive === false) note("This command runs no steps; a worker goes on");
    else if (!drives) note(`This process lacks the node type ${namesText(lacking)}, so it runs no steps; a worker that has it goes on`);
    const repeatCommand = (context: Parameters<typeof commandLine>[0]): string =>
      commandLine(context, move.verb, [workflowId, ...(move.repeatArguments ?? [])], move.repeatOptions);
    const ended = await followExecution({ ...showing, session, interruption, run, before, json, tellPause, drives, repeatCommand });
    return wanted === "cancelled" && (await run.snapshot()).status === "cancelled" ? exitCode.done : ended;
  } finally {
    await closing.run();
  }
}

/** Returns options as words of a command line, without those that were not given. */
export function optionWords(given: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(given).flatMap(([option, value]) => (value === undefined ? [] : [option, value]));
}
