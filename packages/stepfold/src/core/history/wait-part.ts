import { wantedText } from "../explain/explain-wait.ts";
import { cut, listed } from "../explain/explain-words.ts";
import type { WaitInfo } from "../explain/waits.ts";
import type { EpochMs } from "../values/json.ts";
import { isJsonObject } from "../values/json.ts";
import { countdownText } from "./duration-text.ts";
import { type EventPart, jsonText } from "./sentence-parts.ts";

/** Says what a path waits for and for how long: an answer, signals, a time, or the first of these. The question of its step is the value. */
export function waitsPart(waits: readonly WaitInfo[], now: EpochMs): EventPart {
  const wanted = waits.map(wantedText).filter((text) => text !== null);
  const time = Math.min(...waits.flatMap(({ resumeAt }) => resumeAt ?? []));
  const deadline = Math.min(...waits.flatMap(({ timeoutAt }) => timeoutAt ?? []));
  if (wanted.length === 0) return { kind: "words", text: `waits ${countdownText(Math.min(time, deadline) - now)}` };
  const until = deadline === Number.POSITIVE_INFINITY ? "" : `, for ${countdownText(deadline - now)}`;
  const most = time === Number.POSITIVE_INFINITY ? "" : `, at most ${countdownText(time - now)}`;
  const question = waits.map(questionOf).find((text) => text !== "");
  return { kind: "words", text: `waits for ${listed(wanted, "or")}${most}${until}`, ...(question !== undefined && { value: question }) };
}

/** Returns the payload that the step suspended with: its title, message and question if it has any, else all of it; empty for none. */
export function questionOf({ payload }: Pick<WaitInfo, "payload">): string {
  if (payload === undefined || payload === null) return "";
  if (typeof payload === "string") return `"${cut(payload, 200)}"`;
  if (!isJsonObject(payload)) return jsonText(payload, 120);
  const texts = [payload.title, payload.message, payload.question].filter((text) => typeof text === "string" && text !== "");
  if (texts.length > 0) return `"${cut(texts.join(": "), 200)}"`;
  // an approval without a title and a message has only a type, which is not worth showing
  const { type: _, ...told } = payload;
  return Object.keys(told).length === 0 ? "" : jsonText(payload, 120);
}
