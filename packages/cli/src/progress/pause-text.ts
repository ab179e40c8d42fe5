import type { Answerable } from "../execution/next-command.ts";
import type { Paint } from "../text/paint.ts";
import { timestampsText } from "../text/timestamps-text.ts";
import { questionOf, wantedText } from "../text/wait-text.ts";
import type { CommandOutcome } from "./progress.ts";

const maxWaits = 10;

/** The last lines about an execution that is not at its end: where it stands, and the command for everything it waits for. */
export function pauseText({ snapshot, waits, sentence, show }: CommandOutcome, paint: Paint, now: number = Date.now()): string {
  const { workflowId, status } = snapshot;
  const name = paint("strong", workflowId);
  const what = status === "error" ? "waits" : `is ${status}`;
  const open = waits.filter((one): one is Answerable & { command: string } => one.command !== null);
  const lines = ["", `${paint("wait", "⏸")} ${name} ${what}: ${timestampsText(sentence, now)}`];
  if (open.length === 1) lines.push("", `  ${paint("command", open[0]!.command)}`);
  if (open.length > 1) {
    lines.push("");
    for (const { wait, command } of open.slice(0, maxWaits)) lines.push(`  ${askedText(wait)}`, `    ${paint("command", command)}`);
    if (open.length > maxWaits) lines.push(`  and ${open.length - maxWaits} more; this lists them:`, `    ${paint("command", show)}`);
  }
  return `${lines.join("\n")}\n`;
}

function askedText(wait: Answerable["wait"]): string {
  const question = questionOf(wait);
  return `${wait.address}  ${wantedText(wait)}${question === "" ? "" : `: ${question}`}`;
}
