import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { NodeDefinition } from "./node-definition.ts";
import { foreignSchema, isCode, isForeign } from "./schema-kind.ts";

/**
 * A node definition with its types inferred: `data` from `input`, the return value from `output` and `handles`,
 * `externalPayload` from `resume`, and the globals from the type you give the step.
 *
 * @throws StepfoldError `OPTION_INVALID` if `input`, `output` or `resume` is an object that is neither a Standard Schema nor a JSON Schema,
 * such as a schema of zod 3.23 or valibot 0.30. Give a function then: `input: (data) => schema.parse(data)`.
 *
 * ```ts
 * const charge = defineNode({
 *   input: z.object({ amount: z.number() }),
 *   handles: ["paid", "declined"],
 *   async executor(data, step: StepContext<unknown, { bank: Bank }>) {
 *     const receipt = await step.globals.bank.charge(data.amount, step.idempotencyKey);
 *     return { data: receipt, nextHandle: receipt.ok ? "paid" : "declined" };
 *   },
 * });
 * ```
 */
export function defineNode<In = unknown, Out = unknown, Resume = unknown, const Handle extends string = string, Globals = unknown>(
  definition: NodeDefinition<In, Out, Resume, Handle, Globals>,
): NodeDefinition<In, Out, Resume, Handle, Globals> {
  for (const option of ["input", "output", "resume"] as const) {
    const schema = definition[option];
    if (schema !== undefined && !isCode(schema) && isForeign(schema))
      throw new StepfoldError("OPTION_INVALID", { option, reason: foreignSchema });
  }
  return definition;
}
