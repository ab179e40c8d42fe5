import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Spawn, SpawnedMap } from "../../core/snapshot/event.ts";
import type { Json } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { normalise } from "../../core/values/to-json.ts";
import { CheckBudget } from "../schema/check-run.ts";
import { validatorOf } from "../workflow/validator.ts";
import type { AttemptState } from "./attempt-state.ts";
import { latestEnd } from "./latest-end.ts";
import type { Outcome } from "./outcome.ts";

const defaultConcurrency = 16;

/** The children that a step asks for, checked. What it returned may be anything. */
export function spawnedChildren(run: AttemptState, request: unknown): Outcome {
  const { around, startedAt, place, task } = run;
  const workflow = safeMember(request, "workflow");
  const inner = typeof workflow === "string" ? place.workflow.workflows.get(workflow) : undefined;
  if (!inner) throw new StepfoldError("DEFINITION_UNKNOWN", { workflow: String(workflow), known: [...place.workflow.workflows.keys()] });
  if (inner.finally) throw invalid("workflow", `names "${inner.definition.id}", which has "finally": run it with "detached"`);
  if (inner.starts.length !== 1) throw new StepfoldError("START_AMBIGUOUS", { workflow: inner.definition.id, candidates: inner.starts });
  let sizeBytes = 0;
  const keep = (value: unknown, what: string): Json => {
    const kept = normalise(value, what, around.limits);
    sizeBytes += kept.sizeBytes;
    return kept.value;
  };
  const map = safeMember(request, "map");
  const spawn: { -readonly [K in keyof Spawn]: Spawn[K] } = { workflow: workflow as string };
  if (map !== undefined) spawn.map = mapOf(map, around.limits, (items) => keep(items, `The items of node "${task.nodeId}"`));
  else {
    const input = safeMember(request, "input");
    if (input !== undefined) spawn.input = keep(input, `The input of node "${task.nodeId}"`);
  }
  const { input: schema, id } = inner.definition;
  if (schema !== undefined) checkInputs(schema, id, spawn, new CheckBudget(around.limits));
  const endedAt = around.now();
  const timeoutAt = latestEnd(run, endedAt);
  if (timeoutAt !== undefined) spawn.timeoutAt = timeoutAt;
  return { type: "spawned", startedAt, endedAt, children: Object.freeze(spawn), sizeBytes };
}

function mapOf(request: unknown, { mapConcurrency: max }: Limits, keep: (items: unknown) => Json): SpawnedMap {
  const given = safeMember(request, "items");
  if (!Array.isArray(given)) throw invalid("items", "must be a list");
  const concurrency = safeMember(request, "concurrency") ?? defaultConcurrency;
  if (!(Number.isSafeInteger(concurrency) && (concurrency as number) >= 1))
    throw invalid("concurrency", "must be a whole number from 1 on");
  if ((concurrency as number) > max)
    throw new StepfoldError("LIMIT_EXCEEDED", {
      what: "The concurrency of a map",
      limit: "mapConcurrency",
      max,
      actual: concurrency as number,
    });
  const remaining = safeMember(request, "remaining") ?? "cancel";
  if (remaining !== "finish" && remaining !== "cancel") throw invalid("remaining", 'must be "finish" or "cancel"');
  const completeWhen = safeMember(request, "completeWhen");
  if (completeWhen !== undefined && !(Number.isSafeInteger(completeWhen) && (completeWhen as number) >= 0))
    throw invalid("completeWhen", "must be a whole number from 0 on, or an expression");
  const map: { -readonly [K in keyof SpawnedMap]: SpawnedMap[K] } = {
    items: keep(given) as readonly Json[],
    concurrency: concurrency as number,
    remaining,
    tolerated: toleratedOf(safeMember(request, "toleratedFailures") ?? 0),
  };
  if (safeMember(request, "open") === true) map.open = true;
  if (completeWhen !== undefined) map.completeWhen = completeWhen as number;
  return Object.freeze(map);
}

/** A number of items, or their share of all, below 1. */
function toleratedOf(given: unknown): number {
  if (Number.isSafeInteger(given) && (given as number) >= 0) return given as number;
  const share = typeof given === "string" && /^\d{1,2}(?:\.\d{1,3})?%$/.test(given) ? Number(given.slice(0, -1)) / 100 : Number.NaN;
  if (Number.isFinite(share)) return share;
  if (given === "100%") return Number.MAX_SAFE_INTEGER;
  throw invalid("toleratedFailures", 'must be a whole number from 0 on, or a share such as "10%"');
}

function checkInputs(schema: Parameters<typeof validatorOf>[0], workflow: string, { input, map }: Spawn, budget: CheckBudget): void {
  const validate = validatorOf(schema);
  for (const [i, item] of (map ? map.items : [input ?? null]).entries()) {
    const { issues } = validate(item, budget) as Awaited<ReturnType<typeof validate>>;
    if (!issues) continue;
    const pointer = map ? `/${i}` : "";
    throw new StepfoldError("INPUT_INVALID", { workflow, issues: issues.map((issue) => ({ ...issue, pointer: pointer + issue.pointer })) });
  }
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
