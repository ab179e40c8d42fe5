import { StepfoldError } from "stepfold";
import type { Run } from "stepfold/runtime";
import { wasAnswered } from "../answered-before.ts";
import { BadInput } from "../bad-input.ts";
import { cleanup } from "../cleanup.ts";
import { chooseDatabase, openExistingDatabase } from "../database.ts";
import { commandContext, driveExecution, type Showing } from "../drive-execution.ts";
import { findConfig, rememberedConfig } from "../find-config.ts";
import { listenForInterruption } from "../interruption.ts";
import { jsonArgument } from "../json/json-argument.ts";
import { loadConfig } from "../load-config.ts";
import { answerable, commandLine } from "../next-command.ts";
import { complain } from "../output.ts";
import { openSession } from "../session.ts";

/** Options of `stepfold resume`. */
export interface ResumeVerbOptions {
  readonly node?: string;
  readonly wait?: string;
  readonly payload?: string;
  readonly by?: string;
  readonly key?: string;
  readonly db?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly exitCode?: boolean;
}

/** `stepfold resume ID`: answers a wait, and drives on to the end or the next pause. @returns the exit code */
export async function resume(workflowId: string, options: ResumeVerbOptions): Promise<number> {
  const payload = options.payload === undefined ? undefined : jsonArgument(options.payload, "--payload");
  const database = chooseDatabase(options.db);
  const closing = cleanup();
  const interruption = listenForInterruption(options.json ?? false);
  closing.add(interruption.stopListening);
  try {
    const store = openExistingDatabase(database);
    closing.add(() => store.close());
    const snapshot = await store.load(workflowId);
    if (!snapshot) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
    const foundConfig = findConfig(undefined, ["."]);
    const configPath =
      options.config === undefined ? (rememberedConfig(snapshot, database.folder) ?? foundConfig) : findConfig(options.config, []);
    const config = await loadConfig(configPath);
    const showing: Showing = { store, database, config, configPath, foundConfig };
    const session = await openSession({ workflowId, store, database, config, configPath, cleanup: closing });
    const run = await session.runtime.get(workflowId);
    await answer(run, options, payload, showing);
    return await driveExecution({
      ...showing,
      session,
      interruption,
      run,
      before: snapshot,
      json: options.json ?? false,
      tellPause: options.exitCode ?? false,
      again: (context) => commandLine(context, "resume", workflowId, optionWords(options)),
    });
  } finally {
    await closing.run();
  }
}

/** Gives the answer, unless this very answer was given before: then the command only goes on. */
async function answer(run: Run, options: ResumeVerbOptions, payload: unknown, showing: Showing): Promise<void> {
  const { node, wait, by, key } = options;
  const note = (text: string): void => {
    if (!options.json) complain(`${text}\n`);
  };
  try {
    const { applied } = await run.resume({ step: node, waitId: wait, payload, by, idempotencyKey: key });
    if (!applied) note("This answer was given before; going on");
  } catch (error) {
    if (StepfoldError.is(error, "RESUME_AMBIGUOUS")) throw await ambiguous(run, error, showing);
    if (StepfoldError.is(error, "RESUME_INVALID")) throw await invalid(run, error, showing);
    if (!StepfoldError.is(error, "WAIT_GONE") && !StepfoldError.is(error, "EXECUTION_ENDED")) throw error;
    if (await wasAnswered(showing.store, run.workflowId, { node, wait, payload })) return note("This answer was given before; going on");
    const asksNothing = node === undefined && wait === undefined && payload === undefined;
    // a command that answers nothing goes on with what a crash or Ctrl-C has left
    if (!asksNothing || StepfoldError.is(error, "EXECUTION_ENDED")) throw error;
    note("It waits for no answer; going on");
  }
}

async function ambiguous(run: Run, cause: StepfoldError<"RESUME_AMBIGUOUS">, showing: Showing): Promise<BadInput> {
  const snapshot = await run.snapshot();
  const named = new Set(cause.details.waits.map(({ id }) => id));
  const choices = answerable(snapshot, await commandContext(snapshot, showing)).filter(({ waitId }) => named.has(waitId));
  return new BadInput("RESUME_AMBIGUOUS", `Execution "${run.workflowId}" waits for ${choices.length} answers; say which one you give`, {
    hint: `One of these commands:\n${choices.map(({ command }) => `  ${command}`).join("\n")}`,
    details: { workflowId: run.workflowId, waits: choices.map(({ waitId, nodeId, command }) => ({ id: waitId, node: nodeId, command })) },
    cause,
  });
}

async function invalid(run: Run, cause: StepfoldError<"RESUME_INVALID">, showing: Showing): Promise<BadInput> {
  const snapshot = await run.snapshot();
  const { nodeId } = cause.details;
  const choice = answerable(snapshot, await commandContext(snapshot, showing)).find((one) => one.nodeId === nodeId);
  return new BadInput("PAYLOAD_INVALID", cause.message, {
    hint: choice ? `A payload that fits looks like this:\n  ${choice.command}` : null,
    details: cause.details,
    cause,
  });
}

function optionWords({ node, wait, payload, by, key }: ResumeVerbOptions): string[] {
  const given = { "--node": node, "--wait": wait, "--payload": payload, "--by": by, "--key": key };
  return Object.entries(given).flatMap(([option, value]) => (value === undefined ? [] : [option, value]));
}
