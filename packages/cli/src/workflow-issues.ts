import type { Issue } from "stepfold";
import { jsonPositions, type Position } from "./json/json-position.ts";
import type { JsonFile } from "./json/read-json-file.ts";
import { type Paint, plainPaint } from "./progress/paint.ts";
import { printable } from "./progress/printable.ts";

/** A mistake in a workflow, and where it is in the file. */
export interface LocatedIssue extends Issue, Position {}

/** The mistakes with their places, in order of the file. */
export function locatedIssues({ text }: JsonFile, issues: readonly Issue[]): LocatedIssue[] {
  if (issues.length === 0) return [];
  const positionOf = jsonPositions(text);
  return issues.map((issue) => ({ ...issue, ...positionOf(issue.pointer) })).sort((a, b) => a.line - b.line || a.column - b.column);
}

/** `order.json:12:5  error  NODE_TYPE_UNKNOWN  /nodes/3/type  no node definition is called "htpp"` */
export function issueLines(file: string, issues: readonly LocatedIssue[], paint: Paint = plainPaint): string[] {
  return issues.map(({ severity, code, pointer, message, line, column }) => {
    const grade = paint(severity === "error" ? "bad" : "wait", severity);
    return `${file}:${line}:${column}  ${grade}  ${code}  ${printable(pointer || "/")}  ${printable(message, 500)}`;
  });
}
