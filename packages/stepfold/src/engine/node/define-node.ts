import type { NodeDefinition } from "./node-definition.ts";

/**
 * A node definition with its types inferred: `data` from `input`, the return value from `output` and `handles`,
 * `externalPayload` from `resume`, and the globals from the type you give the step.
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
  return definition;
}
