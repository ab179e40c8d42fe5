import { randomUUID } from "node:crypto";

// Everything that is printed passes `terminalText`. Control sequences of our own carry a mark that is new in every process, so
// that nothing which comes from a definition, a row or a payload can hold one.
const begin = `\ue000${randomUUID()}:`;
const end = "\ue001";
const ours = new RegExp(`${begin}([^${end}]*)${end}`, "gu");
/** Control characters, half surrogate pairs, and what changes the direction of text or cannot be seen. */
const unsafe = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A control sequence of a terminal, without its escape character: `control("[32m")`. */
export function control(sequence: string): string {
  return `${begin}${sequence}${end}`;
}

/** What a terminal is sent: control sequences of our own as they are, any other control character as an escape that can be seen and is JSON. */
export function terminalText(text: string): string {
  return text.replace(unsafe, escaped).replace(ours, (_, sequence: string) => `\u001b${sequence.replace("\\u000d", "\r")}`);
}

function escaped(char: string): string {
  let units = "";
  for (let i = 0; i < char.length; i++) units += `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`;
  return units;
}
