import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { StartedEvent } from "../../core/snapshot/event.ts";
import { isWorkflowId } from "../../core/values/id.ts";
import { isJsonObject, type Json } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { Environment } from "../../ports/environment.ts";
import { CheckBudget } from "../schema/check-run.ts";
import type { PreparedWorkflow } from "./prepared-workflow.ts";
import { sharedKeysOf } from "./shared-keys.ts";
import { type Validated, validatorOf } from "./validator.ts";

/** What an execution begins with. */
export interface StartOptions {
  /** Default: the definition's `start`, or its one node without an incoming edge. */
  readonly initialNodeId?: string | undefined;
  /** Your id of the execution, and the idempotency key of its start. Default: a new UUID. */
  readonly workflowId?: string | undefined;
  readonly input?: unknown;
  /** Kept with the execution, and searchable. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Whose execution it is: text as a `workflowId`. All executions that it begins have the same one, and it is part of every id and key
   * that is made for them: ids of detached executions, keys for services, concurrency keys. `list({ tenant })` finds them.
   */
  readonly tenant?: string | undefined;
  /** For the first node, as if it were resumed with it. */
  readonly externalPayload?: unknown;
}

/**
 * The event that begins an execution.
 *
 * @throws StepfoldError `START_AMBIGUOUS`, `NODE_UNKNOWN`, `INPUT_INVALID`, `EXPRESSION_FAILED`, `OPTION_INVALID`, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`
 */
export function startEvent(
  { compiled }: PreparedWorkflow,
  options: StartOptions,
  environment: Pick<Environment, "now" | "newId">,
  limits: Limits,
): StartedEvent {
  const { workflowId = environment.newId(), input, metadata = {}, tenant, externalPayload } = options;
  const { definition, hash } = compiled;
  requireId("workflowId", workflowId);
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
  if (input !== undefined) event.input = keep(input, "The input");
  if (externalPayload !== undefined) event.payload = keep(externalPayload, "The payload");
  event.sizeBytes = sizeBytes;
  checkInput({ compiled }, event.input, limits);
  return Object.assign(event, sharedKeysOf({ compiled }, event));
}

/** @throws StepfoldError `OPTION_INVALID` */
function requireId(option: string, id: string): void {
  if (isWorkflowId(id)) return;
  throw new StepfoldError("OPTION_INVALID", { option, reason: "must be text of 1 to 255 printable characters, without space at the ends" });
}

/** @throws StepfoldError `START_AMBIGUOUS`, `NODE_UNKNOWN` */
export function firstNode({ compiled }: Pick<PreparedWorkflow, "compiled">, initialNodeId: string | undefined): string {
  const { definition, starts, nodes } = compiled;
  if (initialNodeId === undefined) {
    if (starts.length !== 1) throw new StepfoldError("START_AMBIGUOUS", { workflow: definition.id, candidates: starts });
    return starts[0]!;
  }
  if (!nodes.has(initialNodeId)) throw new StepfoldError("NODE_UNKNOWN", { nodeId: String(initialNodeId), workflow: definition.id });
  return initialNodeId;
}

/** @throws StepfoldError `INPUT_INVALID`, `LIMIT_EXCEEDED` */
export function checkInput({ compiled }: Pick<PreparedWorkflow, "compiled">, input: Json | undefined, limits: Limits): void {
  const { input: schema, id } = compiled.definition;
  if (schema === undefined) return;
  // a JSON Schema answers at once; without input it is asked about null
  const { issues } = validatorOf(schema)(input ?? null, new CheckBudget(limits)) as Validated;
  if (issues) throw new StepfoldError("INPUT_INVALID", { workflow: id, issues });
}
