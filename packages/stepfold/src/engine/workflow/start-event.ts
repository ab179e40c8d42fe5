import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { StartedEvent } from "../../core/snapshot/event.ts";
import { deadlineOf, laterBy } from "../../core/transition/draft/deadline.ts";
import { type Duration, durationMs } from "../../core/values/duration.ts";
import { checkedName } from "../../core/values/ids/checked-name.ts";
import { defaultTaskQueue, isId, isWorkflowId } from "../../core/values/ids/id.ts";
import { type EpochMs, isJsonObject, type Json } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { judgeTimestamp } from "../../core/values/timestamp.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { Environment } from "../../ports/environment.ts";
import { CheckBudget } from "../schema/check-run.ts";
import type { PreparedWorkflow } from "./prepared-workflow.ts";
import { sharedKeysOf } from "./shared-keys.ts";
import { validatorOf } from "./validator.ts";

/** The options of the start of an execution. */
export interface StartOptions {
  /** Id of the first node. Default: the definition's `start`, or its only node without an incoming edge. */
  readonly initialNodeId?: string | undefined;
  /** Your id of the execution, and the idempotency key of its start. Default: a new UUID. */
  readonly workflowId?: string | undefined;
  readonly input?: unknown;
  /** Kept with the execution, and searchable. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /**
   * The tenant that the execution belongs to: text like a `workflowId`. All executions that it starts have the same tenant. The tenant is
   * part of every id and key that is made for them: ids of detached executions, keys for services, concurrency keys. `list({ tenant })`
   * finds them.
   */
  readonly tenant?: string | undefined;
  /** Who starts it; the first event keeps it as `who`. */
  readonly by?: string | undefined;
  /** A payload for the first node, which runs as if it were resumed with the payload. */
  readonly externalPayload?: unknown;
  /**
   * The longest time that the execution may take, from its start or from `startAt`: milliseconds, or text such as `"2h"`. The earliest of
   * this time, `deadline` and the `timeout` of the workflow counts: then the execution fails with `EXECUTION_TIMED_OUT`, and its steps are
   * undone. Default: the `timeout` of the workflow.
   */
  readonly timeout?: Duration | undefined;
  /** The time by which the execution must have ended: ISO 8601 with an offset, or milliseconds since 1970. */
  readonly deadline?: string | EpochMs | undefined;
}

/** The options of a start, with a start time. */
export interface StartAtOptions extends StartOptions {
  /** The first node is not performed before this time. */
  readonly startAt?: EpochMs | undefined;
  /** The task queue of the execution. Default: that of the workflow. */
  readonly taskQueue?: string | undefined;
}

/**
 * The event that begins an execution.
 *
 * @throws StepfoldError `START_AMBIGUOUS`, `NODE_UNKNOWN`, `INPUT_INVALID`, `EXPRESSION_FAILED`, `DURATION_INVALID`, `OPTION_INVALID`,
 * `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`
 */
export function startEvent(
  { compiled }: PreparedWorkflow,
  options: StartAtOptions,
  environment: Pick<Environment, "now" | "newId">,
  limits: Limits,
): StartedEvent {
  const { workflowId = environment.newId(), input, metadata = {}, tenant, by, externalPayload } = options;
  const { definition, hash } = compiled;
  if (options.workflowId !== undefined) requireId("workflowId", workflowId);
  if (tenant !== undefined) requireId("tenant", tenant);
  let sizeBytes = 0;
  const keep = (value: unknown, what: string): Json => {
    const kept = normalise(value, what, limits);
    sizeBytes += kept.sizeBytes;
    return kept.value;
  };
  const kept = keep(metadata, "The metadata");
  if (!isJsonObject(kept)) throw new StepfoldError("OPTION_INVALID", { option: "metadata", reason: "must be an object" });
  const event: { -readonly [K in keyof StartedEvent]: StartedEvent[K] } = {
    type: "started",
    version: 0,
    at: environment.now(),
    workflowId,
    definition: Object.freeze({ id: definition.id, hash }),
    nodeId: firstNode({ compiled }, options.initialNodeId),
    metadata: kept,
  };
  if (tenant !== undefined) event.tenant = tenant;
  if (by !== undefined) event.who = checkedName("by", by);
  if (input !== undefined) event.input = keep(input, "The input");
  if (externalPayload !== undefined) event.payload = keep(externalPayload, "The payload");
  event.sizeBytes = sizeBytes;
  checkInput({ compiled }, event.input, limits);
  setTimes({ compiled }, event, options, limits);
  setTaskQueue(event, options.taskQueue ?? definition.taskQueue);
  return Object.assign(event, sharedKeysOf({ compiled }, event));
}

function setTaskQueue(event: { -readonly [K in keyof StartedEvent]: StartedEvent[K] }, taskQueue: string | undefined): void {
  if (taskQueue === undefined || taskQueue === defaultTaskQueue) return;
  if (!isId(taskQueue))
    throw new StepfoldError("OPTION_INVALID", { option: "taskQueue", reason: "must be a name of 1 to 128 letters, digits, _ and -" });
  event.taskQueue = taskQueue;
}

/** Sets when an execution begins, and by when it must have ended. */
function setTimes(
  { compiled }: Pick<PreparedWorkflow, "compiled">,
  event: { -readonly [K in keyof StartedEvent]: StartedEvent[K] },
  { startAt, timeout, deadline }: StartAtOptions,
  { timerMs: max }: Limits,
): void {
  const { workflowId, input, metadata } = event;
  const never = Number.POSITIVE_INFINITY;
  if (startAt !== undefined && startAt > event.at)
    event.startAt = laterBy(startAt - event.at, event.at, max, `The start of execution "${workflowId}"`);
  const at = event.startAt ?? event.at;
  const byWorkflow = deadlineOf(compiled, { input, metadata, at }) ?? never;
  const byTimeout = timeout === undefined ? never : laterBy(durationMs(timeout), at, max, `The timeout of execution "${workflowId}"`);
  const byDate = deadline === undefined ? never : requireTime("deadline", deadline);
  if (startAt !== undefined && byDate <= startAt)
    throw new StepfoldError("OPTION_INVALID", { option: "deadline", reason: "must be later than startAt" });
  const given = Math.min(byTimeout, byDate);
  if (given === never && byWorkflow === never) return;
  event.deadlineAt = Math.min(given, byWorkflow);
  if (given !== never) event.givenTime = Object.freeze({ deadlineAt: given, timeoutMs: given - at });
}

/** Returns the deadline of an execution that is restarted at `at`. */
export function timesOf(
  prepared: Pick<PreparedWorkflow, "compiled">,
  about: Pick<StartedEvent, "workflowId" | "input" | "metadata" | "at">,
  options: Pick<StartOptions, "timeout" | "deadline">,
  limits: Limits,
): Pick<StartedEvent, "deadlineAt" | "givenTime"> {
  const event = { ...about } as { -readonly [K in keyof StartedEvent]: StartedEvent[K] };
  setTimes(prepared, event, options, limits);
  const { deadlineAt, givenTime } = event;
  return {
    ...(deadlineAt !== undefined && { deadlineAt }),
    ...(givenTime && { givenTime }),
  };
}

/** Reads a time as milliseconds since 1970. @throws StepfoldError `OPTION_INVALID` */
export function requireTime(option: string, value: unknown): EpochMs {
  const at = judgeTimestamp(value);
  if (typeof at === "number") return at;
  throw new StepfoldError("OPTION_INVALID", { option, reason: at });
}

/** @throws StepfoldError `OPTION_INVALID` */
function requireId(option: string, id: string): void {
  if (isWorkflowId(id)) return;
  throw new StepfoldError("OPTION_INVALID", { option, reason: "must be text of 1 to 255 printable characters, without space at the ends" });
}

/** Returns the id of the first node. @throws StepfoldError `START_AMBIGUOUS`, `NODE_UNKNOWN` */
export function firstNode({ compiled }: Pick<PreparedWorkflow, "compiled">, initialNodeId: string | undefined): string {
  const { definition, starts, nodes } = compiled;
  if (initialNodeId === undefined) {
    if (starts.length !== 1) throw new StepfoldError("START_AMBIGUOUS", { workflow: definition.id, candidates: starts });
    return starts[0]!;
  }
  if (!nodes.has(initialNodeId)) throw new StepfoldError("NODE_UNKNOWN", { nodeId: String(initialNodeId), workflow: definition.id });
  return initialNodeId;
}

/** Checks the input of a workflow against its schema. @throws StepfoldError `INPUT_INVALID`, `LIMIT_EXCEEDED` */
export function checkInput({ compiled }: Pick<PreparedWorkflow, "compiled">, input: Json | undefined, limits: Limits): void {
  const { input: schema, id } = compiled.definition;
  if (schema === undefined) return;
  // a missing input is checked as null
  const { issues } = validatorOf(schema)(input ?? null, new CheckBudget(limits));
  if (issues) throw new StepfoldError("INPUT_INVALID", { workflow: id, issues });
}
