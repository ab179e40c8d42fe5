import { durationMs } from "../core/duration.ts";
import { isJsonObject, type Json, type JsonSchema } from "../core/json.ts";
import type { Wait } from "../core/snapshot.ts";
import { StepfoldError } from "../core/stepfold-error.ts";
import { normalise } from "../core/to-json.ts";
import type { AttemptState } from "./attempt-state.ts";
import type { Outcome } from "./outcome.ts";
import type { Suspension } from "./step.ts";

/**
 * The wait that a suspension makes. One with only a time and nothing that describes an answer is a timer, which no
 * payload can end early.
 */
export function suspensionOf(run: AttemptState, { payload, options }: Suspension): Outcome {
  const { task, node, around, startedAt } = run;
  const { resumeAt, timeout, schema } = options;
  const endedAt = around.now();
  const answerable = resumeAt === undefined || schema !== undefined || timeout !== undefined || node.resume !== null;
  const wait: { -readonly [K in keyof Wait]: Wait[K] } = { id: `${task.pathId}@${task.turn + 1}`, kind: answerable ? "external" : "timer" };
  let sizeBytes = 0;
  const keep = (value: unknown, what: string): Wait["payload"] => {
    const kept = normalise(value, `${what} of node "${task.nodeId}"`, around.limits);
    sizeBytes += kept.sizeBytes;
    return kept.value;
  };
  if (payload !== undefined) wait.payload = keep(payload, "The suspend payload");
  if (schema !== undefined) wait.schema = jsonSchema(keep(schema, "The wait's schema"));
  if (resumeAt !== undefined) wait.resumeAt = moment(run, "resumeAt", resumeAt, endedAt);
  if (timeout !== undefined) wait.timeoutAt = moment(run, "timeout", endedAt + durationMs(timeout), endedAt);
  return { type: "suspended", startedAt, endedAt, waits: Object.freeze([Object.freeze(wait)]), sizeBytes };
}

function jsonSchema(value: Json | undefined): JsonSchema {
  if (typeof value === "boolean" || isJsonObject(value)) return value;
  throw new StepfoldError("OPTION_INVALID", { option: "schema", reason: "must be a JSON Schema" });
}

function moment({ around, task }: AttemptState, option: string, at: unknown, now: number): number {
  if (typeof at !== "number" || !Number.isFinite(at) || at < 0)
    throw new StepfoldError("OPTION_INVALID", {
      option,
      reason: `of node "${task.nodeId}" must be milliseconds since 1970, not ${String(at)}`,
    });
  const max = around.limits.timerMs;
  if (at - now > max)
    throw new StepfoldError("LIMIT_EXCEEDED", { what: `The wait of node "${task.nodeId}"`, limit: "timerMs", max, actual: at - now });
  return Math.ceil(at);
}
