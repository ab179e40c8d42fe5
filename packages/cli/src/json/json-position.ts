import { scanJson } from "./scan-json.ts";

/** A place in a text; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The place of an offset. */
export function positionAt(source: string, offset: number): Position {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
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
