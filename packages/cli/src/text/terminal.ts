import { randomUUID } from "node:crypto";

// Everything that is printed passes `terminalText`. Our own control sequences carry a mark that is random in every process, so
// that no text from a definition, a row or a payload can contain one.
const begin = `\ue000${randomUUID()}:`;
const end = "\ue001";
const ours = new RegExp(`${begin}([^${end}]*)${end}`, "gu");
/** Control characters, half surrogate pairs, and characters that are invisible or change the direction of text. */
const unsafe = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Marks a control sequence as our own. It is given without its escape character: `control("[32m")`. */
export function control(sequence: string): string {
  return `${begin}${sequence}${end}`;
}

/** Returns the text for a terminal. Our own control sequences, line breaks and tabs stay; all that is `unsafe` becomes a JSON escape. */
export function terminalText(text: string): string {
  return text.replace(unsafe, escaped).replace(ours, (_, sequence: string) => `\u001b${sequence.replace("\\u000d", "\r")}`);
}

function escaped(char: string): string {
  let units = "";
  for (let i = 0; i < char.length; i++) units += `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`;
  return units;
}
