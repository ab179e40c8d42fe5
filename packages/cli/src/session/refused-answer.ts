import { StepfoldError, type WaitInfo } from "stepfold";
import { BadInput, type BadInputCode } from "../bad-input.ts";
import { type Answerable, answerable } from "../execution/next-command.ts";
import { shellQuote } from "../execution/shell-quote.ts";
import { commandContext } from "./follow-execution.ts";
import type { Moving } from "./move-execution.ts";

const maxCommands = 5;

/** Which waits an answer or a signal was meant for. */
export interface Meant {
  /** Whether the answer or the signal can be meant for a wait. */
  fits(wait: WaitInfo): boolean;
  /** The person who answered. */
  readonly by?: string | undefined;
}

/** Makes an error that explains a refused answer or signal, with commands that would be accepted. Returns any other error as it is. */
export async function refusedAnswer(error: unknown, moving: Moving, { fits, by }: Meant): Promise<unknown> {
  if (!StepfoldError.is(error)) return error;
  const { workflowId } = moving.run;
  const commands = async (wanted: (one: Answerable) => boolean): Promise<Answerable[]> => {
    const snapshot = await moving.run.snapshot();
    return answerable(snapshot, await commandContext(snapshot, moving)).filter((one) => one.command !== null && wanted(one));
  };
  if (StepfoldError.is(error, "RESUME_AMBIGUOUS")) {
    const named = new Set(error.details.waits.map(({ id }) => id));
    // the error lists only some of the waits, so all waits that the answer can be meant for are added
    const choices = await commands(({ wait }) => named.has(wait.id) || fits(wait));
    const told = choices.map(({ wait, command }) => ({ id: wait.id, node: wait.nodeId, address: wait.address, command }));
    if (choices.length === 0) return error;
    return new BadInput("RESUME_AMBIGUOUS", `Execution "${workflowId}" waits for ${choices.length} answers; say which one you give`, {
      hint: `One of these commands:\n${commandLines(choices)}`,
      details: { workflowId, waits: told },
      cause: error,
    });
  }
  if (StepfoldError.is(error, "RESUME_INVALID")) {
    const { nodeId } = error.details;
    const [right] = await commands(({ wait }) => wait.nodeId === nodeId && fits(wait));
    return refused("PAYLOAD_INVALID", error, right ? `A payload that fits looks like this:\n${commandLines([right])}` : null);
  }
  if (StepfoldError.is(error, "RESPONDER_DENIED")) {
    const { waitId } = error.details;
    const [right] = await commands(({ wait }) => wait.id === waitId);
    const ask = by === undefined ? "Say who answers with --by:" : "One of those who may answer would write:";
    return refused("RESPONDER_DENIED", error, right ? `${ask}\n${commandLines([right])}` : null);
  }
  if (StepfoldError.is(error, "WAIT_GONE") || StepfoldError.is(error, "NODE_UNKNOWN")) {
    const open = await commands(() => true);
    const told = open.length === 0 ? `stepfold show ${shellQuote(workflowId)} tells where it stands` : `Open now:\n${commandLines(open)}`;
    return refused(error.code, error, told);
  }
  return error;
}

function refused(code: BadInputCode, cause: StepfoldError, hint: string | null): BadInput {
  return new BadInput(code, cause.message, { hint, details: { ...cause.details }, cause });
}

function commandLines(choices: readonly Answerable[]): string {
  const shown = choices.slice(0, maxCommands).map(({ command }) => `  ${command}`);
  return [...shown, ...(choices.length > shown.length ? [`  and ${choices.length - shown.length} more`] : [])].join("\n");
}
