import { scanJson } from "./scan-json.ts";

/** A place in a text. Lines and columns are counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The most duplicate names that are reported. */
const maxDuplicates = 20;

/** Returns the line and column of an offset. */
export function positionAt(source: string, offset: number): Position {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

/** Finds names that an object in a JSON text has more than once. JavaScript takes the last value, other programs the first one. */
export function duplicateKeys(source: string): readonly { readonly pointer: string; readonly offset: number }[] {
  const seen = new Set<string>();
  const found = new Map<string, number>();
  scanJson(source, (pointer, offset) => {
    if (seen.has(pointer) && found.size < maxDuplicates && !isInside(pointer, found)) found.set(pointer, offset);
    seen.add(pointer);
  });
  return [...found].map(([pointer, offset]) => ({ pointer, offset }));
}

/** Whether a value is a duplicate that was found before, or lies inside of one: its members are not duplicates of their own. */
function isInside(pointer: string, found: ReadonlyMap<string, number>): boolean {
  return [...found.keys()].some((outer) => pointer === outer || pointer.startsWith(`${outer}/`));
}

/**
 * Returns a function that finds the place of a value in a JSON text by its JSON pointer. The place of a value that is missing is
 * the beginning of the nearest value around it.
 */
export function jsonPositions(source: string): (pointer: string) => Position {
  const offsets = new Map<string, number>();
  scanJson(source, (pointer, offset) => offsets.set(pointer, offset));
  return (pointer) => {
    for (let around = pointer; ; around = around.slice(0, around.lastIndexOf("/"))) {
      const offset = offsets.get(around);
      if (offset !== undefined) return positionAt(source, offset);
      if (!around.includes("/")) return { line: 1, column: 1 };
    }
  };
}
