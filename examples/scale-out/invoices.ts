import { appendFileSync } from "node:fs";
import { defineNode, defineWorkflow } from "stepfold";
import { builtinNodes } from "stepfold/nodes";

/** An invoice is rendered, sent, looked at again a moment later, and filed. */
export const workflows = [
  defineWorkflow({
    id: "invoice",
    nodes: [
      { id: "render", type: "render", data: { number: "{{ input.number }}" } },
      { id: "send", type: "send", data: { text: "{{ nodes.render.last.data.text }}" } },
      { id: "grace", type: "wait", data: { for: "300ms" } },
      { id: "file", type: "set", data: "invoice {{ input.number }} is filed" },
    ],
    edges: [
      { source: "render", target: "send" },
      { source: "send", target: "grace" },
      { source: "grace", target: "file" },
    ],
  }),
];

/** The built-in nodes and ours. `log` is a file where every letter that is sent leaves a line. */
export function invoiceNodes(log: string) {
  return {
    ...builtinNodes,
    render: defineNode({ executor: (data) => ({ data: { text: `Invoice ${(data as { number: number }).number}` } }) }),
    send: defineNode({
      executor: async (data, step) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        // a real service would be given the key, to know a letter that it has sent before
        appendFileSync(log, `${process.pid} ${step.idempotencyKey} ${(data as { text: string }).text}\n`);
        return { data: { sent: true } };
      },
    }),
  };
}
