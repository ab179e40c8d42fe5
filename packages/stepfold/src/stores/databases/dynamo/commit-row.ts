import type { WrittenChild } from "../../kit/written-commit.ts";

/**
 * Events and children as the lines of one text each: JSON has no raw line breaks, so every line comes back as it was,
 * to the byte, without being parsed.
 */
export function eventLines(events: readonly { readonly text: string }[]): string {
  return events.map(({ text }) => text).join("\n");
}

/** Two lines a child: its key as JSON, and `-` if it is deleted, else `=` or, if it comes after all others, `+` with its head. */
export function childLines(children: readonly WrittenChild[]): string {
  return children.map(({ key, text, last }) => `${JSON.stringify(key)}\n${text === null ? "-" : (last ? "+" : "=") + text}`).join("\n");
}

/** The children of a fold as lines that begin another one. */
export function foldedLines(children: ReadonlyMap<string, string>): string {
  return childLines([...children].map(([key, text]) => ({ key, text, last: false })));
}

/** Applies what a commit did to children: JSON of the heads by key, in order of creation. */
export function foldChildren(children: Map<string, string>, lines: string): void {
  if (lines === "") return;
  const parts = lines.split("\n");
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const key = JSON.parse(parts[at]!) as string;
    const change = parts[at + 1]!;
    if (change[0] !== "=") children.delete(key);
    if (change[0] !== "-") children.set(key, change.slice(1));
  }
}
