import { appendFileSync } from "node:fs";
import { defineNode, defineWorkflow } from "stepfold";
import { builtinNodes } from "stepfold/nodes";

/** The workflow: an invoice is rendered and sent, and after a short wait filed. */
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

/** Returns the built-in node definitions and those of this example. `log` is a file that gets one line for each letter that is sent. */
export function invoiceNodes(log: string) {
  return {
    ...builtinNodes,
    render: defineNode({ executor: (data) => ({ data: { text: `Invoice ${(data as { number: number }).number}` } }) }),
    send: defineNode({
      executor: async (data, step) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        // a real service would get the key, so that it recognizes a letter that it has already sent
        appendFileSync(log, `${process.pid} ${step.idempotencyKey} ${(data as { text: string }).text}\n`);
        return { data: { sent: true } };
      },
    }),
  };
}
