import { defineNode, defineWorkflow } from "stepfold";
import { builtinNodes } from "stepfold/nodes";

/** Reserves goods; the first attempt of some orders fails. */
const reserve = defineNode({
  retryPolicy: { maxAttempts: 3, interval: 100, backoff: "exponential" },
  executor: async (data, step) => {
    if ((data as { readonly isBusy?: boolean }).isBusy && step.attempt === 1) throw new Error("busy");
    return { data: { by: step.idempotencyKey } };
  },
});

export const nodeDefinitions = { ...builtinNodes, reserve };

/** The order: goods are reserved, the customer has some time to think, and then somebody approves. */
export const order = defineWorkflow({
  id: "order",
  nodes: [
    { id: "reserve", type: "reserve", data: { isBusy: "{{ input.isBusy }}" } },
    { id: "think", type: "wait", data: { for: "{{ input.delay }}" } },
    { id: "approve", type: "approval", data: { message: "Ship to {{ input.customer }}?" } },
    { id: "ship", type: "set", data: "shipped to {{ input.customer }}" },
  ],
  edges: [
    { source: "reserve", target: "think" },
    { source: "think", target: "approve" },
    { source: "approve", target: "ship", sourceHandle: "approved" },
  ],
});
