import type { Issue } from "stepfold";
import { type Paint, plainPaint } from "../text/paint.ts";
import { printable } from "../text/printable.ts";
import { duplicateKeys, jsonPositions, type Position, positionAt } from "./json-position.ts";
import type { JsonFile } from "./read-json-file.ts";

/** A mistake in a workflow, and where it is: in the file, unless it is in a workflow that the file only names. */
export interface LocatedIssue extends Omit<Issue, "code">, Partial<Position> {
  readonly code: Issue["code"] | "KEY_DUPLICATE";
  /** The node it is about. */
  readonly node?: string;
  /** The workflow inside that it is in. */
  readonly workflow?: string;
}

/**
 * The mistakes with their places, in order of the file; those of other workflows after them.
 *
 * @param others the workflows that the file may name
 */
export function locatedIssues(
  { text, value }: Pick<JsonFile, "text" | "value">,
  issues: readonly Issue[],
  others: readonly unknown[] = [],
): LocatedIssue[] {
  const duplicates = duplicateKeys(text).map(
    ({ pointer, offset }): LocatedIssue => ({
      ...{ severity: "error", code: "KEY_DUPLICATE", pointer, message: "is there twice: give it once" },
      ...positionAt(text, offset),
    }),
  );
  if (issues.length === 0) return duplicates;
  const positionOf = text === "" ? null : jsonPositions(text);
  const far = { line: Number.POSITIVE_INFINITY, column: 0 };
  const located = issues.map((issue): LocatedIssue => {
    const { node, workflow, isHere } = issueOwner(value, issue.pointer, others);
    const names = { ...(node === undefined ? {} : { node }), ...(workflow === undefined ? {} : { workflow }) };
    return { ...issue, ...names, ...(positionOf && isHere ? positionOf(issue.pointer) : {}) };
  });
  return [...located, ...duplicates].sort((a, b) => {
    const [one, other] = [
      { ...far, ...a },
      { ...far, ...b },
    ];
    return one.line === other.line ? one.column - other.column : one.line - other.line;
  });
}

/** `order.json:12:5  error  NODE_TYPE_UNKNOWN  /nodes/3/type  charge: no node definition is called "htpp"` */
export function issueLines(file: string, issues: readonly LocatedIssue[], paint: Paint = plainPaint): string[] {
  return issues.map(({ severity, code, pointer, message, line, column, node, workflow }) => {
    const grade = paint(severity === "error" ? "bad" : "wait", severity);
    const place = line === undefined ? file : `${file}:${line}:${column}`;
    const named = [workflow, node].filter((name) => name !== undefined).join("/");
    const subject = named === "" ? "" : `${printable(named)}: `;
    return `${place}  ${grade}  ${code}  ${printable(pointer || "/")}  ${subject}${printable(message, 1_000)}`;
  });
}

/** Whose node a pointer leads to: `/workflows/review/nodes/2/type`. */
function issueOwner(
  definition: unknown,
  pointer: string,
  others: readonly unknown[],
): { node?: string; workflow?: string; isHere: boolean } {
  const steps = pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  let at = definition;
  let workflow: string | undefined;
  let isHere = true;
  while (steps[0] === "workflows" && steps.length > 1) {
    workflow = steps[1]!;
    const own = member(member(at, "workflows"), workflow);
    isHere &&= own !== undefined;
    at = own ?? others.find((other) => member(other, "id") === workflow);
    steps.splice(0, 2);
  }
  const id = steps[0] === "nodes" ? member(member(member(at, "nodes"), steps[1] ?? ""), "id") : undefined;
  return {
    ...(typeof id === "string" ? { node: id } : {}),
    ...(workflow === undefined ? {} : { workflow }),
    isHere,
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}
