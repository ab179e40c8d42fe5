import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Spawn, SpawnedMap } from "../../core/snapshot/parts/spawn.ts";
import type { Json, JsonSchema } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { normalise } from "../../core/values/to-json.ts";
import { CheckBudget } from "../schema/check-run.ts";
import { validatorOf } from "../workflow/validator.ts";
import type { AttemptState } from "./attempt-state.ts";
import { latestEnd } from "./node-times.ts";
import type { Outcome } from "./outcome.ts";

/** How many items of a map run at the same time if the request does not say; fewer if the limit `mapConcurrency` is lower. */
const defaultConcurrency = 16;

/**
 * Checks the children that a step asks for, and returns them as an outcome. The request comes from the code of a node, so it can be any
 * value. An option that is undefined counts as absent; any other value, also null, must be valid.
 *
 * @throws StepfoldError `OPTION_INVALID`, `DEFINITION_UNKNOWN`, `INPUT_INVALID`, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`; `START_AMBIGUOUS` if
 * the child's workflow has no first node, or more than one
 */
export function spawnedChildren(run: AttemptState, request: unknown): Outcome {
  const { context, startedAt, scopeDraft, task } = run;
  const workflow = workflowName(request);
  const inner = scopeDraft.workflow.workflows.get(workflow);
  if (!inner) throw new StepfoldError("DEFINITION_UNKNOWN", { workflow, known: [...scopeDraft.workflow.workflows.keys()] });
  const { input: schema, id } = inner.definition;
  if (inner.finally) throw invalid("workflow", `names "${id}", which has "finally": run it with "detached"`);
  if (inner.starts.length !== 1) throw new StepfoldError("START_AMBIGUOUS", { workflow: id, candidates: inner.starts });
  let sizeBytes = 0;
  const toJson = (value: unknown, what: string): Json => {
    const normalised = normalise(value, what, context.limits);
    sizeBytes += normalised.sizeBytes;
    return normalised.value;
  };
  const map = safeMember(request, "map");
  const input = safeMember(request, "input");
  if (map !== undefined && input !== undefined) throw invalid("input", "cannot be combined with map: the items of the map are the inputs");
  const spawn: { -readonly [K in keyof Spawn]: Spawn[K] } = { workflow };
  if (map !== undefined) spawn.map = mapOf(map, context.limits, (items) => toJson(items, `The items of node "${task.nodeId}"`));
  if (input !== undefined) spawn.input = toJson(input, `The input of the workflow that node "${task.nodeId}" runs`);
  if (schema !== undefined) checkInputs(schema, id, spawn, new CheckBudget(context.limits));
  const endedAt = context.now();
  const timeoutAt = latestEnd(run, endedAt);
  if (timeoutAt !== undefined) spawn.timeoutAt = timeoutAt;
  return { type: "spawned", startedAt, endedAt, children: Object.freeze(spawn), sizeBytes };
}

/** The name of the workflow that a request asks for. @throws StepfoldError `OPTION_INVALID` */
export function workflowName(request: unknown): string {
  const name = safeMember(request, "workflow");
  if (typeof name !== "string") throw invalid("workflow", "must be the name of a workflow");
  return name;
}

function mapOf(request: unknown, { mapConcurrency: max }: Limits, toJson: (items: unknown) => Json): SpawnedMap {
  const items = safeMember(request, "items");
  if (!Array.isArray(items)) throw invalid("items", "must be a list");
  const remaining = safeMember(request, "remaining");
  if (remaining !== undefined && remaining !== "finish" && remaining !== "cancel")
    throw invalid("remaining", 'must be "finish" or "cancel"');
  const completeWhen = safeMember(request, "completeWhen");
  if (completeWhen !== undefined && !isCount(completeWhen)) throw invalid("completeWhen", "must be a whole number of at least 0");
  const open = safeMember(request, "open");
  if (open !== undefined && typeof open !== "boolean") throw invalid("open", "must be true or false");
  const map: { -readonly [K in keyof SpawnedMap]: SpawnedMap[K] } = {
    items: toJson(items) as readonly Json[],
    concurrency: concurrencyOf(safeMember(request, "concurrency"), max),
    remaining: remaining ?? "cancel",
    tolerated: toleratedOf(safeMember(request, "toleratedFailures")),
  };
  if (open) map.open = true;
  if (completeWhen !== undefined) map.completeWhen = completeWhen;
  return Object.freeze(map);
}

function concurrencyOf(given: unknown, max: number): number {
  if (given === undefined) return Math.min(defaultConcurrency, max);
  if (!isCount(given) || given === 0) throw invalid("concurrency", "must be a whole number of at least 1");
  if (given <= max) return given;
  throw new StepfoldError("LIMIT_EXCEEDED", { what: "The concurrency of a map", limit: "mapConcurrency", max, actual: given });
}

/**
 * Returns how many items may fail: a number below 1 is a share of all items, a number from 1 on is a count. `100%` becomes the largest safe
 * integer, because 1 means one item.
 */
function toleratedOf(given: unknown): number {
  if (given === undefined) return 0;
  if (isCount(given)) return given;
  const percent = typeof given === "string" && /^\d{1,3}(?:\.\d{1,3})?%$/.test(given) ? Number(given.slice(0, -1)) : Number.NaN;
  if (percent < 100) return percent / 100;
  if (percent === 100) return Number.MAX_SAFE_INTEGER;
  throw invalid("toleratedFailures", 'must be a whole number of at least 0, or a share such as "10%"');
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Checks the input, or every item of a map, against the input schema of the child's workflow. */
function checkInputs(schema: JsonSchema, workflow: string, { input, map }: Spawn, budget: CheckBudget): void {
  const validate = validatorOf(schema);
  for (const [i, item] of (map ? map.items : [input ?? null]).entries()) {
    const { issues } = validate(item, budget);
    if (!issues) continue;
    const pointer = map ? `/${i}` : "";
    throw new StepfoldError("INPUT_INVALID", { workflow, issues: issues.map((issue) => ({ ...issue, pointer: pointer + issue.pointer })) });
  }
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
