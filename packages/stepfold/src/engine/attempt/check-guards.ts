import { undefinedSetting } from "../../core/definition/compiled-policy.ts";
import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isJsonObject } from "../../core/values/json.ts";
import { pointerOf } from "../../core/values/pointer.ts";
import type { NodeDefinition } from "../node/node-definition.ts";

/**
 * Checks that no expression in a guarded member of a node's data was undefined. A missing field would otherwise silently remove what the
 * member limits: an approval without `responders` can be answered by anybody.
 *
 * @param data as its template gave it: members without a value are undefined
 * @param blanks pointers to texts in which an expression was undefined
 * @throws StepfoldError `DATA_INVALID`
 */
export function checkGuards({ guards = [] }: NodeDefinition, nodeId: string, data: unknown, blanks: readonly string[]): void {
  const issues =
    data === undefined && guards.length > 0
      ? [{ pointer: "", message: undefinedSetting }]
      : guards.flatMap((name) => issueOf(name, data, blanks));
  if (issues.length > 0) throw new StepfoldError("DATA_INVALID", { nodeId, issues });
}

function issueOf(name: string, data: unknown, blanks: readonly string[]): SchemaIssue[] {
  const pointer = pointerOf([name]);
  const lacks = isJsonObject(data) && Object.hasOwn(data, name) && holdsUndefined(data[name]);
  return lacks || blanks.some((blank) => blank === pointer || blank.startsWith(`${pointer}/`))
    ? [{ pointer, message: undefinedSetting }]
    : [];
}

function holdsUndefined(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === undefined;
  return Object.values(value).some(holdsUndefined);
}
