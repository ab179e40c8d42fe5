/** A text that is longer is shown in part at first. */
const [mostCharacters, mostLines] = [320, 6];

/** Returns the beginning of a text that is too long to be shown at once; null if it is not. */
export function beginningOf(text: string): string | null {
  const lines = text.split("\n");
  const few = lines.slice(0, mostLines).join("\n");
  if (lines.length <= mostLines && text.length <= mostCharacters) return null;
  if (few.length <= mostCharacters) return `${few.trimEnd()}…`;
  // no surrogate pair is torn, and no word, unless it is very long
  const cut = few.slice(0, mostCharacters).replace(/[\uD800-\uDBFF]$/, "");
  return `${cut.replace(/\s\S{0,40}$/, "").trimEnd()}…`;
}
