import { type EpochMs, isTerminal, type Snapshot } from "stepfold";
import { durationText } from "../text/duration-text.ts";
import type { Paint } from "../text/paint.ts";
import { printable } from "../text/printable.ts";
import { pauseText } from "./pause-text.ts";
import type { CommandOutcome } from "./progress.ts";

const maxOutputLength = 4_000;

/** The first line about an execution. */
export function headline(snapshot: Snapshot, existed: boolean, paint: Paint): string {
  const { workflowId, definition, status, version, from } = snapshot;
  const where =
    version === 0 && from ? originText(from) : `goes on from version ${version}, ${status === "error" ? "to be retried" : status}`;
  const goesOn = existed && !isTerminal(status) ? paint("quiet", `  ${where}`) : "";
  return `${paint("strong", workflowId)}  ${definition.id}${goesOn}`;
}

/** Which execution it goes on from. */
export function originText({ workflowId, version, reason }: NonNullable<Snapshot["from"]>): string {
  return `goes on from version ${version} of ${printable(workflowId, 255)} (${reason})`;
}

/** The last lines: how it ended, or what it waits for and the command that goes on. */
export function outcomeText(outcome: CommandOutcome, paint: Paint): string {
  const { snapshot, restart, interrupted, at } = outcome;
  const { workflowId, status } = snapshot;
  const name = paint("strong", workflowId);
  if (interrupted !== null)
    return `\n${name} is safe at version ${snapshot.version}. This goes on with it:\n\n  ${paint("command", interrupted)}\n`;
  if (status === "completed") return `\n${paint("good", "✔")} ${name} completed${tookText(snapshot, at)}\n${outputText(snapshot)}`;
  if (status === "failed" || status === "cancelled") {
    const goesOn = restart === null ? "" : `\nOnce the cause is mended, this goes on where it failed:\n\n  ${paint("command", restart)}\n`;
    return `\n${paint("bad", "✖")} ${name} ${status}${errorText(snapshot)}\n${goesOn}`;
  }
  return pauseText(outcome, paint);
}

/** How it failed, and where. */
export function errorText({ error }: Pick<Snapshot, "error">): string {
  if (!error) return "";
  // that it was cancelled is said before
  const code = error.code === undefined || error.code === "EXECUTION_CANCELLED" ? "" : ` (${printable(error.code)})`;
  return `${error.nodeId === undefined ? "" : ` at ${error.nodeId}`}: ${printable(error.message, 1_000)}${code}`;
}

/** An output in full, unless it is very long. */
export function outputText({ output }: Pick<Snapshot, "output">): string {
  if (output === undefined || output === null) return "";
  const text = JSON.stringify(output, null, 2).replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
  return text.length > maxOutputLength ? `${text.slice(0, maxOutputLength)}\n… (--json shows all of it)\n` : `${text}\n`;
}

function tookText({ createdAt }: Snapshot, endedAt: EpochMs | null): string {
  return createdAt === undefined || endedAt === null ? "" : ` in ${durationText(endedAt - createdAt)}`;
}
