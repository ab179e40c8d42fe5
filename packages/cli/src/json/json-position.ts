import { scanJson } from "./scan-json.ts";

/** A place in a text; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Names given twice that are listed. */
const maxDuplicates = 20;

/** The place of an offset. */
export function positionAt(source: string, offset: number): Position {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

/** Values that a JSON text gives twice under one name: JavaScript takes the last, other programs the first. */
export function duplicateKeys(source: string): readonly { readonly pointer: string; readonly offset: number }[] {
  const seen = new Set<string>();
  const found = new Map<string, number>();
  scanJson(source, (pointer, offset) => {
    if (seen.has(pointer) && found.size < maxDuplicates && !isInside(pointer, found)) found.set(pointer, offset);
    seen.add(pointer);
  });
  return [...found].map(([pointer, offset]) => ({ pointer, offset }));
}

/** What is inside of a value that is given twice is given twice too. */
function isInside(pointer: string, found: ReadonlyMap<string, number>): boolean {
  return [...found.keys()].some((outer) => pointer === outer || pointer.startsWith(`${outer}/`));
}

/**
 * Finds the places of values in a JSON text by their JSON pointers. What is not there, because it is missing, is where
 * the nearest thing around it begins.
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
