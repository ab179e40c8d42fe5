import { stepNode } from "../../core/definition/code-nodes.ts";
import { type CompiledPolicy, compilePolicy } from "../../core/definition/compiled-policy.ts";
import type { RetryPolicy } from "../../core/definition/definition.ts";
import { DefinitionReport } from "../../core/definition/definition-report.ts";
import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { durationMs } from "../../core/values/duration.ts";
import type { Json } from "../../core/values/json.ts";
import { defaultLimits, type Limits } from "../../core/values/limits.ts";
import { normalise } from "../../core/values/to-json.ts";
import { expressionLanguage } from "../../expressions/expression-language.ts";
import type { StepRequest } from "../node/asking.ts";
import type { NodeDefinition, NodeDefinitions } from "../node/node-definition.ts";
import { preparedAlone } from "../workflow/prepare-undo.ts";
import { definitionOf, type PreparedNode } from "../workflow/prepared-node.ts";
import { withPlainOutput } from "./plain-output.ts";

const { compileTemplate } = expressionLanguage;

/** Returns what performs a step that code asks for. @throws StepfoldError `OPTION_INVALID`, `NODE_TYPE_UNKNOWN`, `VALUE_NOT_JSON`, ... */
export function prepareStep(request: StepRequest, nodeDefinitions: NodeDefinitions, limits: Limits): PreparedNode {
  const { name, by, data, retry, timeout, heartbeatTimeout, incident, undo } = request;
  if (retry !== undefined || incident === true) refuseInside(name, by, data);
  const { type, definition } = typeof by === "string" ? ofType(name, by, nodeDefinitions) : by;
  const compiled = stepNode(name, {
    type,
    data: data === undefined ? null : normalise(data, `The data of step "${name}"`, limits).value,
    retryPolicy: retry === undefined ? null : policyOf(name, retry),
    timeoutMs: timeout === undefined ? null : durationMs(timeout),
    heartbeatMs: heartbeatTimeout === undefined ? null : durationMs(heartbeatTimeout),
    incident: incident === true,
    undo: undo && undoneBy(name, undo, limits),
  });
  return preparedAlone(compiled, definition);
}

/**
 * Refuses `retry` and `incident` for a workflow or a map that runs inside the execution. Its failure follows from an event of its children, and the
 * process that applies this event may not have the code, which alone knows these settings: they would have no effect there.
 */
function refuseInside(name: string, by: StepRequest["by"], data: unknown): void {
  const isInside = by === "map" || (by === "workflow" && safeMember(data, "detached") !== true);
  if (!isInside) return;
  const reason =
    "is for steps that are performed: give it to the steps of the workflow, catch the error and ask again, or start it as an execution of its own";
  throw new StepfoldError("OPTION_INVALID", { option: `retry or incident of step "${name}"`, reason });
}

function ofType(nodeId: string, type: string, known: NodeDefinitions): { readonly type: string; readonly definition: NodeDefinition } {
  const definition = definitionOf(known, type);
  if (!definition) throw new StepfoldError("NODE_TYPE_UNKNOWN", { nodeId, type, known: Object.keys(known) });
  return { type, definition: withPlainOutput(definition) };
}

/** Policies that were read before, because code often gives the same object again and again. */
const policies = new WeakMap<object, CompiledPolicy>();

function policyOf(name: string, retry: RetryPolicy): CompiledPolicy {
  const known = policies.get(retry);
  if (known) return known;
  const report = new DefinitionReport(defaultLimits);
  const policy = compilePolicy(retry, "", compileTemplate, report);
  if (!policy) {
    const [{ pointer, message } = { pointer: "", message: "cannot be read" }] = report.issues;
    throw new StepfoldError("OPTION_INVALID", { option: `retry${pointer.replaceAll("/", ".")} of step "${name}"`, reason: message });
  }
  policies.set(retry, policy);
  return policy;
}

function undoneBy(name: string, { type, data }: NonNullable<StepRequest["undo"]>, limits: Limits): NonNullable<StepRequest["undo"]> {
  if (typeof type !== "string" || type === "")
    throw new StepfoldError("OPTION_INVALID", { option: `undo of step "${name}"`, reason: "must name a node type: { type, data }" });
  const kept: Json | undefined = data === undefined ? undefined : normalise(data, `The undo data of step "${name}"`, limits).value;
  return Object.freeze(kept === undefined ? { type } : { type, data: kept });
}
