import { defineNode, type NodeDefinitions } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import type { LogLine } from "../kill9/log.ts";

/** What a tick starts: an effect, a rest, an effect. */
export const work = {
  id: "work",
  nodes: [
    { id: "begin", type: "effect" },
    { id: "rest", type: "wait", data: { for: "200ms" } },
    { id: "finish", type: "effect" },
  ],
  edges: [
    { source: "begin", target: "rest" },
    { source: "rest", target: "finish" },
  ],
};

/** The steps that a tick has to make, once each. */
export const effects: readonly string[] = ["begin", "finish"];

/** Each effect is noted in the log of its process before it is committed. */
export function workNodes(write: (line: LogLine) => void): NodeDefinitions {
  return {
    ...builtinNodes,
    effect: defineNode({
      executor(_data, { workflowId, nodeId, idempotencyKey: key, attempt }) {
        write({ what: "called", workflowId, nodeId, key, call: `${attempt}` });
        return { data: key };
      },
    }),
  };
}
