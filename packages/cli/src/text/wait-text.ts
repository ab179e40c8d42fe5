import type { EpochMs, Wait, WaitInfo } from "stepfold";
import { isJsonObject } from "stepfold/core";
import { countdownText } from "./duration-text.ts";
import { namesText } from "./names-text.ts";
import { printable, printableJson } from "./printable.ts";

/** A wait as an event contains it, or as `waits` returns it. */
export type AnyWait = Pick<Wait, "kind" | "signal" | "key" | "workflowId" | "responders" | "payload" | "resumeAt" | "timeoutAt"> &
  Partial<Pick<Wait, "quorum" | "answers">> &
  Partial<Pick<WaitInfo, "answered" | "missing">>;

/** Says what a path waits for: an answer, signals, a time, or the first of these. */
export function waitsText(waits: readonly AnyWait[], now: EpochMs): string {
  const wanted = waits.map(wantedText).filter((text) => text !== null);
  const time = Math.min(...waits.flatMap(({ resumeAt }) => resumeAt ?? []));
  const deadline = Math.min(...waits.flatMap(({ timeoutAt }) => timeoutAt ?? []));
  if (wanted.length === 0) return `waits ${countdownText(Math.min(time, deadline) - now)}`;
  const until = deadline === Number.POSITIVE_INFINITY ? "" : `, for ${countdownText(deadline - now)}`;
  const most = time === Number.POSITIVE_INFINITY ? "" : `, at most ${countdownText(time - now)}`;
  const question = waits.map(questionOf).find((text) => text !== "");
  return `waits for ${wanted.join(" or ")}${most}${until}${question === undefined ? "" : `: ${question}`}`;
}

/** Says what one wait waits for; null for a timer. */
export function wantedText(wait: AnyWait): string | null {
  const { kind, signal = "", key, workflowId = "" } = wait;
  if (kind === "timer") return null;
  if (kind === "signal") return `the signal "${printable(signal, 80)}"${key === undefined ? "" : ` (key ${printable(key, 80)})`}`;
  if (kind === "incident") return "a decision about its failure (retry, skip or fail)";
  if (kind === "child") return `the execution ${printable(workflowId, 80)}`;
  if (kind === "delivery") return "its signal to arrive";
  if (kind === "children") return "its sub-workflow or its items";
  const { quorum, answers = [], answered = answers.map(({ by }) => by), missing = quorum ?? 1, responders } = wait;
  const left = responders?.filter((name) => !answered.includes(name)).map((name) => printable(name, 80));
  const count = `${missing}${answered.length > 0 ? " more" : ""}`;
  const what = count === "1" ? "an answer" : missing === 1 ? `${count} answer` : `${count} answers`;
  const has = answered.length > 0 ? ` (${namesText(answered.map((name) => printable(name, 80)))} answered)` : "";
  return `${what}${left ? ` from ${namesText(left, "or")}` : ""}${has}`;
}

/** Returns the payload that the step suspended with: its title, message and question if it has any, else all of it; empty for none. */
export function questionOf({ payload }: Pick<Wait, "payload">): string {
  if (payload === undefined || payload === null) return "";
  if (typeof payload === "string") return `"${printable(payload)}"`;
  if (!isJsonObject(payload)) return printableJson(payload, 120);
  const texts = [payload.title, payload.message, payload.question].filter((text) => typeof text === "string" && text !== "");
  if (texts.length > 0) return `"${printable(texts.join(": "))}"`;
  // an approval without a title and a message has only a type, which is not worth showing
  const { type: _, ...told } = payload;
  return Object.keys(told).length === 0 ? "" : printableJson(payload, 120);
}
