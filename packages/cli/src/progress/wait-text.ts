import type { EpochMs, Wait } from "stepfold";
import { isJsonObject } from "stepfold/core";
import { countdownText } from "./duration-text.ts";
import { printable, printableJson } from "./printable.ts";

/** What a wait is for, in words. */
export function waitText(wait: Wait, now: EpochMs): string {
  const { kind, resumeAt, timeoutAt } = wait;
  if (kind === "timer") return `waits ${countdownText((resumeAt ?? now) - now)}`;
  const question = questionOf(wait);
  const until = timeoutAt === undefined ? "" : `, for ${countdownText(timeoutAt - now)}`;
  return `waits for an answer${until}${question ? `: ${question}` : ""}`;
}

/** What the step told the world: its title and message if it has some, else all of it. */
function questionOf({ payload }: Wait): string {
  if (payload === undefined || payload === null) return "";
  if (typeof payload === "string") return `"${printable(payload)}"`;
  if (!isJsonObject(payload)) return printableJson(payload, 120);
  const texts = [payload.title, payload.message, payload.question].filter((text) => typeof text === "string" && text !== "");
  return texts.length ? `"${printable(texts.join(": "))}"` : printableJson(payload, 120);
}
