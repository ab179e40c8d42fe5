import { questionOf, wantedText } from "stepfold/core";
import type { Answerable } from "../execution/next-command.ts";
import type { Paint } from "../text/paint.ts";
import { printable } from "../text/printable.ts";
import { timestampsText } from "../text/timestamps-text.ts";
import type { CommandOutcome } from "./progress.ts";

/** The most waits that are listed. */
const maxWaits = 10;

/** Returns the last lines about an execution that has not ended: its state, and for each wait the command that answers it. */
export function pauseText({ snapshot, waits, sentence, show, now }: CommandOutcome, paint: Paint): string {
  const { workflowId, status } = snapshot;
  const name = paint("strong", workflowId);
  // an execution with the status "error" waits for a retry
  const stateText = status === "error" ? "waits" : `is ${status}`;
  // the waits that have a command
  const withCommand = waits.filter((one): one is Answerable & { command: string } => one.command !== null);
  const lines = ["", `${paint("wait", "⏸")} ${name} ${stateText}: ${timestampsText(sentence, now)}`];
  // a single command needs no line that says which wait it is for
  if (withCommand.length === 1) lines.push("", `  ${paint("command", withCommand[0]!.command)}`);
  if (withCommand.length > 1) {
    lines.push("");
    for (const { wait, command } of withCommand.slice(0, maxWaits)) lines.push(`  ${waitLine(wait)}`, `    ${paint("command", command)}`);
    if (withCommand.length > maxWaits)
      lines.push(`  and ${withCommand.length - maxWaits} more; this lists them:`, `    ${paint("command", show)}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Describes a wait in one line: its address, what it waits for, and the question of its step. */
function waitLine(wait: Answerable["wait"]): string {
  const question = questionOf(wait);
  const told = printable(`${wantedText(wait) ?? ""}${question === "" ? "" : `: ${question}`}`, 600);
  return `${wait.address}  ${told}`;
}
