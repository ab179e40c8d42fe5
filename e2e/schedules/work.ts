import { defineNode, type NodeDefinitions } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import type { LogLine } from "../kill9/log.ts";

/** The workflow that a tick starts: an effect, a rest, an effect. */
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

/** The steps with an effect, each of which the execution of a tick has to make once. */
export const effects: readonly string[] = ["begin", "finish"];

/** Returns node definitions that log each effect before it is committed. */
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
