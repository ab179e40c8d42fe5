import { defineNode, type NodeDefinitions } from "stepfold";
import { builtinNodes } from "stepfold/nodes";

/** The node types that fixtures use: the built-in ones, and three that do only what a pattern needs. */
export const fixtureNodes: NodeDefinitions = {
  ...builtinNodes,
  /** Completes at once. */
  task: defineNode({ executor: (data) => ({ data: data ?? null }) }),
  /** Leaves by the handles that its data names. */
  emit: defineNode<{ readonly handles: readonly string[] }, null>({
    executor: ({ handles }) => ({ data: null, nextHandles: handles }),
  }),
  /** Waits for an answer, and leaves by the handle that the answer names. */
  hold: defineNode<unknown, unknown, { readonly handle?: string }>({
    executor: (_, step) => {
      if (!step.resumed) return step.suspend();
      const { handle } = step.externalPayload ?? {};
      return { data: step.externalPayload ?? null, ...(handle !== undefined && { nextHandle: handle }) };
    },
  }),
};
