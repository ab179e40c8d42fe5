import type { Issue } from "stepfold";
import { type Paint, plainPaint } from "../text/paint.ts";
import { printable } from "../text/printable.ts";
import { duplicateKeys, jsonPositions, type Position, positionAt } from "./json-position.ts";
import type { JsonFile } from "./read-json-file.ts";

/**
 * A mistake in a workflow, with its line and column. These are absent if the workflow does not come from a file but from the config, or if
 * the mistake is in another workflow, which the file only names.
 */
export interface LocatedIssue extends Omit<Issue, "code">, Partial<Position> {
  readonly code: Issue["code"] | "KEY_DUPLICATE";
  /** The id of the node that the mistake is about. */
  readonly node?: string;
  /** The id of the workflow that contains the mistake; absent for the workflow of the file itself. */
  readonly workflow?: string;
}

/**
 * Returns the mistakes with their places, in the order of the file. Mistakes in other workflows come last.
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
  // mistakes without a place come last
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

/**
 * Returns a line for each mistake:
 * `order.json:12:5  error  NODE_TYPE_UNKNOWN  /nodes/3/type  charge: no node definition is called "htpp"`
 */
export function issueLines(file: string, issues: readonly LocatedIssue[], paint: Paint = plainPaint): string[] {
  return issues.map(({ severity, code, pointer, message, line, column, node, workflow }) => {
    const grade = paint(severity === "error" ? "bad" : "wait", severity);
    const place = line === undefined ? file : `${file}:${line}:${column}`;
    const named = [workflow, node].filter((name) => name !== undefined).join("/");
    const subject = named === "" ? "" : `${printable(named)}: `;
    return `${place}  ${grade}  ${code}  ${printable(pointer || "/")}  ${subject}${printable(message, 1_000)}`;
  });
}

/** Finds the node and the workflow that a pointer leads to: `/workflows/review/nodes/2/type`. `isHere`: the file itself contains them. */
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

/** Whether an issue is a node of a type that this process does not know. */
export function isUnknownType({ code }: { readonly code: string }): boolean {
  return code === "NODE_TYPE_UNKNOWN";
}
