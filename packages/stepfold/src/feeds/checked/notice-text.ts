import type { Notice, NoticeKind } from "../../ports/event-feed.ts";

/** The longest text that is sent. PostgreSQL takes less than 8,000 bytes in one message. */
const maxTextLength = 7_500;
/** The longest text that is read. A text may come from any program that can write to the channel. */
const maxHeardLength = 64 * 1024;
/** The most notices that are read from one text. */
const maxHeardNotices = 2_000;
const maxIdLength = 255;
const kinds: ReadonlySet<unknown> = new Set<NoticeKind>(["due", "waiting", "ended", "test"]);

/**
 * Writes notices as texts of limited length. The texts are ASCII, so that a character is one byte in any encoding of a database. A
 * notice that is too long for one text is left out, because a notice is only a hint.
 */
export function noticeTexts(notices: readonly Notice[]): string[] {
  const texts: string[] = [];
  let text = "";
  for (const { kind, workflowId, version, run = 1, restarts = 0 } of notices) {
    const part = asciiJson([kind, workflowId, version, ...(run > 1 || restarts > 0 ? [run, restarts] : [])]);
    // the two characters are the brackets around the notices
    if (part.length + 2 > maxTextLength) continue;
    if (text !== "" && text.length + part.length + 2 > maxTextLength) {
      texts.push(`${text}]`);
      text = "";
    }
    text += `${text === "" ? "[" : ","}${part}`;
  }
  if (text !== "") texts.push(`${text}]`);
  return texts;
}

/** Reads the notices in a text that was received. Anything that is not a valid notice is left out. */
export function noticesIn(text: unknown): Notice[] {
  if (typeof text !== "string" || text.length > maxHeardLength) return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return [];
  }
  return Array.isArray(parsed) ? parsed.slice(0, maxHeardNotices).flatMap((part: unknown) => noticeOf(part) ?? []) : [];
}

function noticeOf(part: unknown): Notice | null {
  if (!Array.isArray(part)) return null;
  const [kind, workflowId, version, run = 1, restarts = 0]: readonly unknown[] = part;
  if (!kinds.has(kind) || typeof workflowId !== "string" || workflowId === "" || workflowId.length > maxIdLength) return null;
  if (!isCount(version) || !isCount(run) || !isCount(restarts)) return null;
  return { kind: kind as NoticeKind, workflowId, version, ...(run > 1 && { run }), ...(restarts > 0 && { restarts }) };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
