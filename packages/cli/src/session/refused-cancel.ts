import { StepfoldError } from "stepfold";
import { BadInput } from "../bad-input.ts";
import { commandLine } from "../execution/next-command.ts";
import { shellQuote } from "../execution/shell-quote.ts";
import { commandContext } from "./follow-execution.ts";
import type { Moving } from "./move-execution.ts";

const maxCommands = 5;
const maxPlaces = 20;

/**
 * Makes an error that explains a refused cancellation, with the places where the execution stands, or with the commands for the
 * places that may be meant. Returns any other error as it is.
 */
export async function refusedCancel(error: unknown, moving: Moving): Promise<unknown> {
  const { workflowId } = moving.run;
  if (StepfoldError.is(error, "WAIT_GONE")) {
    const { target, open } = error.details;
    return new BadInput("WAIT_GONE", `Execution "${workflowId}" is not at ${target}`, {
      hint: `It stands at: ${open.slice(0, maxPlaces).join(", ")}; stepfold show ${shellQuote(workflowId)} tells more`,
      details: { workflowId, target, open },
      cause: error,
    });
  }
  if (!StepfoldError.is(error, "RESUME_AMBIGUOUS")) return error;
  const snapshot = await moving.run.snapshot();
  const context = await commandContext(snapshot, moving);
  const choices = error.details.waits.map(({ nodeId: address }) => {
    return { address, command: commandLine(context, "cancel", [workflowId], ["--step", address]) };
  });
  const shown = [...new Set(choices.map(({ command }) => command))];
  const more = shown.length > maxCommands ? [`  and ${shown.length - maxCommands} more`] : [];
  return new BadInput("RESUME_AMBIGUOUS", `${choices.length} open places of "${workflowId}" match; say which one you mean`, {
    hint: ["One of these commands:", ...shown.slice(0, maxCommands).map((command) => `  ${command}`), ...more].join("\n"),
    details: { workflowId, places: choices },
    cause: error,
  });
}
