import { type EpochMs, isTerminal, type Snapshot } from "stepfold";
import { durationText } from "stepfold/core";
import { shellQuote } from "../execution/shell-quote.ts";
import type { Paint } from "../text/paint.ts";
import { printable } from "../text/printable.ts";
import { pauseText } from "./pause-text.ts";
import type { CommandOutcome } from "./progress.ts";

const maxOutputLength = 4_000;

/** Returns the first line about an execution. @param existed it was started before this command */
export function headline(snapshot: Snapshot, existed: boolean, paint: Paint): string {
  const { workflowId, definition, status, version, from } = snapshot;
  const where =
    version === 0 && from ? originText(from) : `goes on from version ${version}, ${status === "error" ? "to be retried" : status}`;
  const goesOn = existed && !isTerminal(status) ? paint("quiet", `  ${where}`) : "";
  return `${paint("strong", workflowId)}  ${definition.id}${goesOn}`;
}

/** Says from which execution this one goes on. */
export function originText({ workflowId, version, reason }: NonNullable<Snapshot["from"]>): string {
  return `goes on from version ${version} of ${printable(workflowId, 255)} (${reason})`;
}

/** Returns the last lines: how the execution ended, or what it waits for and the commands that answer. */
export function outcomeText(outcome: CommandOutcome, paint: Paint): string {
  const { snapshot, restart, interrupted, at } = outcome;
  const { workflowId, status } = snapshot;
  const name = paint("strong", workflowId);
  if (interrupted !== null)
    return `\n${name} is safe at version ${snapshot.version}. This goes on with it:\n\n  ${paint("command", interrupted)}\n`;
  if (status === "completed") return `\n${paint("good", "✔")} ${name} completed${tookText(snapshot, at)}\n${outputText(snapshot)}`;
  if (status === "failed" || status === "cancelled") {
    const goesOn = restart === null ? "" : restartText(restart, paint);
    return `\n${paint("bad", "✖")} ${name} ${status}${errorText(snapshot)}\n${goesOn}`;
  }
  return pauseText(outcome, paint);
}

function restartText({ command, definition }: NonNullable<CommandOutcome["restart"]>, paint: Paint): string {
  const mended = `If the cause is in the workflow itself, add --definition ${shellQuote(definition)}`;
  return `\nAfter the cause is fixed, this command goes on where it failed:\n\n  ${paint("command", command)}\n\n${mended}\n`;
}

/** Says how the execution failed, and where; empty if it did not. */
export function errorText({ error }: Pick<Snapshot, "error">): string {
  if (!error) return "";
  // the text before this one already says that the execution was cancelled
  const code = error.code === undefined || error.code === "EXECUTION_CANCELLED" ? "" : ` (${printable(error.code)})`;
  return `${error.nodeId === undefined ? "" : ` at ${error.nodeId}`}: ${printable(error.message, 1_000)}${code}`;
}

/** Returns an output in full, or its beginning if it is very long; empty if there is none. */
export function outputText({ output }: Pick<Snapshot, "output">): string {
  if (output === undefined || output === null) return "";
  const text = JSON.stringify(output, null, 2).replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
  return text.length > maxOutputLength ? `${text.slice(0, maxOutputLength)}\n… (--json shows all of it)\n` : `${text}\n`;
}

function tookText({ createdAt }: Snapshot, endedAt: EpochMs | null): string {
  return createdAt === undefined || endedAt === null ? "" : ` in ${durationText(endedAt - createdAt)}`;
}
