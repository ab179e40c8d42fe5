import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { httpNode } from "stepfold/nodes/http";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";

const keys: unknown[] = [];
const bank = createServer((request, response) => {
  keys.push(request.headers["idempotency-key"]);
  if (keys.length === 1) response.writeHead(429, { "retry-after": "1" }).end();
  else response.writeHead(201, { "content-type": "application/json" }).end('{ "receipt": 7615917337495251231 }');
});
const { port } = bank.listen(0).address() as AddressInfo;

const charge = {
  id: "charge",
  type: "http",
  data: {
    method: "POST",
    url: `http://localhost:${port}/charges`,
    headers: { authorization: "Bearer {{ globals.bankToken }}" },
    body: { json: { amount: "{{ input.amount }}" } }, // or { text: "..." }, or { form: { amount: "..." } }
    timeout: "10s",
  },
  retryPolicy: { maxAttempts: 3, interval: "2s", backoff: "exponential" },
};
const runtime = createRuntime({
  store: memoryStore(),
  workflows: [{ id: "pay", nodes: [charge], edges: [] }],
  nodeDefinitions: { http: httpNode({ allowHosts: ["localhost"] }) },
  globals: { bankToken: "s3cret" },
});
const run = await runtime.start("pay", { input: { amount: 40 } });
const { status, body } = (await run.result()) as { status: number; body: unknown };
console.log(status, body); // 201 { receipt: '7615917337495251231' }
console.log(keys.length, new Set(keys).size); // 2 1
await runtime.close();
bank.close();
