import { defineNode, defineWorkflow } from "stepfold";
import { builtinNodes } from "stepfold/nodes";

/** The input of the request node. */
interface Request {
  readonly url: string;
}

/** Calls a service. A temporary error is thrown and retried; a permanent one is a branch of the workflow. */
const request = defineNode({
  retryPolicy: { maxAttempts: 3, interval: 1_000, backoff: "exponential" },
  executor: async (data, step) => {
    const headers = { "idempotency-key": step.idempotencyKey };
    const response = await fetch((data as Request).url, { headers, signal: step.signal });
    if (response.status === 401 || response.status === 403) return { data: { status: response.status }, nextHandle: "auth-error" };
    if (!response.ok) throw new Error(`The service answers ${response.status}`);
    return { data: await response.json() };
  },
});

export const nodeDefinitions = { ...builtinNodes, request };

export const visitors = defineWorkflow({
  id: "visitors",
  nodes: [
    { id: "request", type: "request", data: { url: "{{ globals.serviceUrl }}/{{ input.account }}" } },
    { id: "report", type: "set", data: "{{ nodes.request.last.data.visitors }} visitors" },
    { id: "notify-admin", type: "set", data: "renew the token of {{ input.account }}" },
  ],
  edges: [
    { source: "request", target: "report" },
    { source: "request", target: "notify-admin", sourceHandle: "auth-error" },
  ],
});
