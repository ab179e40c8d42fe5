import type { AddressInfo } from "node:net";
import { defineWorkflow } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { httpNode } from "stepfold/nodes/http";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { openService } from "./service.ts";

const workflow = defineWorkflow({
  id: "visitors",
  nodes: [
    {
      id: "request",
      type: "http",
      data: { url: "{{ globals.url }}", headers: { authorization: "Bearer {{ globals.tokens[input.account] }}" } },
      retryPolicy: { maxAttempts: 3, interval: 200, backoff: "exponential" },
    },
    { id: "report", type: "set", data: "{{ nodes.request.last.data.body.visitors }} visitors" },
    { id: "notify-admin", type: "set", data: "renew the token of {{ input.account }}: status {{ nodes.request.last.data.status }}" },
  ],
  edges: [
    { source: "request", target: "report" },
    { source: "request", target: "notify-admin", sourceHandle: "auth-error" },
  ],
});

const service = await openService();
const { port } = service.address() as AddressInfo;
const runtime = createRuntime({
  store: memoryStore(),
  workflows: [workflow],
  nodeDefinitions: { ...builtinNodes, http: httpNode({ allowHosts: ["127.0.0.1"] }) },
  // globals are passed to the steps and never stored
  globals: { url: `http://127.0.0.1:${port}`, tokens: { ours: "good-token", theirs: "expired-token" } },
});

for (const account of ["ours", "theirs"]) {
  const run = await runtime.start("visitors", { workflowId: `visitors-${account}`, input: { account } });
  for await (const { event } of run.watch()) {
    if (event.type === "failed") console.log(`${event.nodeId}, attempt ${event.attempt}: ${event.error.code}`);
    if (event.type === "completed")
      console.log(`${event.nodeId}, attempt ${event.attempt}: ok${event.handles ? `, leaves by ${event.handles}` : ""}`);
  }
  console.log(`${run.workflowId}: ${await run.result()}\n`);
}

await runtime.close();
service.close();
