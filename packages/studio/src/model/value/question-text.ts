import { isJsonObject, type WaitInfo } from "stepfold/core";

/** Signs that turn the direction of the words around them. */
const turningSigns = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns the text with which a step asks for an answer, not cut, because people decide by it; an empty text if the step gives none. */
export function questionText({ payload }: Pick<WaitInfo, "payload">): string {
  const texts = typeof payload === "string" ? [payload] : isJsonObject(payload) ? [payload.title, payload.message, payload.question] : [];
  return texts
    .filter((text): text is string => typeof text === "string" && text !== "")
    .map((text) => text.replace(turningSigns, "").trim())
    .join(": ");
}
