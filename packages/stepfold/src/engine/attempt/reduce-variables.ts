import type { CompiledVariable, Reducer } from "../../core/definition/compiled.ts";
import { errorInfo } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { type Draft, type ScopeDraft, variablesAt } from "../../core/transition/draft/draft.ts";
import { scopeAt } from "../../core/transition/draft/open-draft.ts";
import { patchedMetadata } from "../../core/transition/patched-metadata.ts";
import type { Task } from "../../core/transition/plan.ts";
import { isJsonObject, type Json, sizeOfJson } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { evaluatedJson } from "../../core/values/to-json.ts";
import { unretried } from "./failure.ts";
import type { Outcome } from "./outcome.ts";

type Counted = Exclude<Outcome, { type: "aborted" }>;
type Completed = Extract<Outcome, { type: "completed" }>;

/**
 * Completes an outcome with the new values of the variables and the metadata that its step has set. The reducer of each variable works on
 * the value that the scope has now: if two steps set one variable, the later event builds on the earlier one. If a reducer refuses a value
 * or fails, or a limit would be exceeded, the step fails without another attempt.
 */
export function reduceVariables(limits: Limits, draft: Draft, task: Task, outcome: Completed): Counted {
  const { writes = {}, metadataPatch, ...rest } = outcome;
  const completed = metadataPatch ? { ...rest, metadata: patchedMetadata(draft.metadata, metadataPatch) } : rest;
  if (!outcome.writes) return completed;
  const scope = scopeAt(draft, task.scope);
  // the scope has ended meanwhile, so the outcome is too late and changes nothing
  if (!scope) return completed;
  try {
    return withVariables(limits, scope, task.nodeId, completed, writes);
  } catch (thrown) {
    const { startedAt, endedAt } = outcome;
    const error = errorInfo(thrown, task.nodeId);
    const failed = { type: "failed", error, sizeBytes: error.message.length, retryAt: null, startedAt, endedAt } as const;
    return unretried(failed, scope.workflow.nodes.get(task.nodeId)!, scope.workflow);
  }
}

function withVariables(
  limits: Limits,
  scope: ScopeDraft,
  nodeId: string,
  completed: Completed,
  writes: Readonly<Record<string, Json>>,
): Completed {
  const { root, workflow } = scope;
  const all = new Set([...Object.keys(scope.variables), ...Object.keys(writes)]);
  if (all.size > limits.variables) {
    const what = `Execution "${root.workflowId}"`;
    throw new StepfoldError("LIMIT_EXCEEDED", { what, limit: "variables", max: limits.variables, actual: all.size });
  }
  const before = variablesAt(scope, root.version);
  const variables: Record<string, Json> = {};
  const appended: Record<string, readonly Json[]> = {};
  let { sizeBytes } = completed;
  for (const [name, value] of Object.entries(writes)) {
    const { reducer = "set" }: Partial<CompiledVariable> = workflow.variables.get(name) ?? {};
    const refuse = (reason: string): StepfoldError => new StepfoldError("VARIABLE_INVALID", { nodeId, variable: name, reason });
    const current = Object.hasOwn(before, name) ? before[name] : undefined;
    const next = typeof reducer === "string" ? reducers[reducer](current, value, refuse) : byExpression(scope, reducer, current, value);
    if (next === undefined) throw refuse("its reducer returns nothing");
    // the value of "set" is normalised already
    const whole = reducer === "set" ? value : evaluatedJson(next, `The variable "${name}"`, limits).value;
    sizeBytes += sizeOfJson(whole);
    const own = Object.hasOwn(scope.variables, name) ? scope.variables[name]!.at(-1)!.value : undefined;
    // the first value of a scope is written whole: what it builds on is in the definition, or in the scope around it
    if (reducer === "append" && own !== undefined) {
      appended[name] = Object.freeze([value]);
      sizeBytes -= sizeOfJson(own);
    } else variables[name] = whole;
  }
  return {
    ...completed,
    sizeBytes,
    ...(Object.keys(variables).length > 0 && { variables: Object.freeze(variables) }),
    ...(Object.keys(appended).length > 0 && { appended: Object.freeze(appended) }),
  };
}

/** Makes the error for a value that a reducer does not accept. */
type Refuse = (reason: string) => StepfoldError;
/** Returns the new value of a variable. `current` is undefined if the variable has no value yet. */
type Reduce = (current: Json | undefined, value: Json, refuse: Refuse) => Json;

const reducers: Readonly<Record<Reducer, Reduce>> = {
  set: (_current, value) => value,
  add(current = 0, value, refuse) {
    const sum = Number(current) + Number(value);
    if (typeof current === "number" && typeof value === "number" && Number.isFinite(sum)) return sum;
    throw refuse(`${describe(value)} cannot be added to ${describe(current)}`);
  },
  append(current = [], value, refuse) {
    if (Array.isArray(current)) return [...current, value];
    throw refuse(`nothing can be appended to ${describe(current)}`);
  },
  merge(current = {}, value, refuse) {
    if (isJsonObject(current) && isJsonObject(value)) return { ...current, ...value };
    throw refuse(`${describe(value)} cannot be merged into ${describe(current)}`);
  },
  max(current, value, refuse) {
    const isComparable = typeof value === "number" || typeof value === "string";
    if (!isComparable || (current !== undefined && typeof current !== typeof value))
      throw refuse(`${describe(value)} cannot be compared with ${describe(current ?? null)}`);
    return current === undefined || value > (current as typeof value) ? value : current;
  },
};

/** The new value of a variable whose reducer is an expression. */
function byExpression(
  { workflow }: ScopeDraft,
  template: Exclude<CompiledVariable["reducer"], string>,
  current: Json | undefined,
  value: Json,
): unknown {
  return template.evaluate(workflow.language.executionScope({ context: {}, since: 0, metadata: {}, at: 0, current, value }));
}

function describe(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : isJsonObject(value) ? "an object" : typeof value === "string" ? "text" : String(value);
}
