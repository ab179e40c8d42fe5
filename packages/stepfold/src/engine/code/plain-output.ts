import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { defaultLimits } from "../../core/values/limits.ts";
import type { NodeDefinition, NodeOutput } from "../node/node-definition.ts";
import { CheckBudget } from "../schema/check-run.ts";
import { validatorOf } from "../workflow/validator.ts";

/**
 * Returns a node definition for a step of code, from which no edge leads: of a type with handles, the output is `{ handle, data }`. A handle that is
 * a failure stays one: the code gets an error.
 */
export function withPlainOutput(definition: NodeDefinition): NodeDefinition {
  if (!definition.handles) return definition;
  const known = plain.get(definition);
  if (known) return known;
  const { handles: _, output, ...rest } = definition;
  const wrapped: NodeDefinition = {
    ...rest,
    handles: ["", ...(definition.failures ?? [])],
    async executor(data, step) {
      const returned = await definition.executor(data, step);
      return "data" in returned && !returned.__pause ? plainOf(returned as Leaving, definition, step.nodeId) : returned;
    },
  };
  plain.set(definition, wrapped);
  return wrapped;
}

const plain = new WeakMap<NodeDefinition, NodeDefinition>();

/** What an executor returns when its step leaves its node. */
type Leaving = Extract<NodeOutput, { readonly data: unknown; readonly __pause?: false | undefined }>;

async function plainOf(returned: Leaving, { failures = [], output }: NodeDefinition, nodeId: string): Promise<NodeOutput> {
  const { nextHandle, nextHandles, data, ...rest } = returned;
  const handle = nextHandles?.[0] ?? nextHandle ?? "";
  if (failures.includes(handle)) return returned;
  const checked = output === undefined ? { value: data } : await validatorOf(output)(data, new CheckBudget(defaultLimits));
  if (checked.issues) throw new StepfoldError("OUTPUT_INVALID", { nodeId, issues: checked.issues });
  return { ...rest, data: { handle, data: checked.value ?? null } };
}
