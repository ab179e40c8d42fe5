import { changeChildren } from "../../kit/row-rules.ts";
import type { WrittenChild } from "../../kit/writing/written-commit.ts";

/**
 * Events and children as the lines of one text each: JSON has no raw line breaks, so every line comes back as it was,
 * to the byte, without being parsed.
 */
export function joinEvents(events: readonly { readonly text: string }[]): string {
  return events.map(({ text }) => text).join("\n");
}

/** Two lines a child: its key as JSON, and `-` if it is deleted, else `=` or, if it comes after all others, `+` with its head. */
export function joinChildren(children: readonly WrittenChild[]): string {
  return children.map(({ key, text, last }) => `${JSON.stringify(key)}\n${text === null ? "-" : (last ? "+" : "=") + text}`).join("\n");
}

/** Applies what a commit did to children: JSON of the heads by key, in order of creation. */
export function applyChildren(children: Map<string, string>, lines: string): void {
  const changed: WrittenChild[] = [];
  const parts = lines.split("\n");
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const change = parts[at + 1]!;
    const text = change[0] === "-" ? null : change.slice(1);
    changed.push({ key: JSON.parse(parts[at]!) as string, text, last: change[0] === "+" });
  }
  changeChildren(children, changed);
}
