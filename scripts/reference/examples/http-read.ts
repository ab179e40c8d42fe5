import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { builtinNodes } from "stepfold/nodes";
import { httpNode } from "stepfold/nodes/http";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";

const shop = createServer((request, response) => {
  const isKnown = request.url === "/items?sku=chair";
  response.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(isKnown ? { price: 40 } : {}));
});
const { port } = shop.listen(0).address() as AddressInfo;

const workflow = {
  id: "price",
  nodes: [
    { id: "ask", type: "http", data: { url: `http://localhost:${port}/items`, query: { sku: "{{ input.sku }}" } } },
    { id: "known", type: "set", data: "{{ input.sku }} costs {{ nodes.ask.last.data.body.price }}" },
    { id: "unknown", type: "set", data: "no {{ input.sku }}: {{ nodes.ask.last.data.status }}" },
  ],
  edges: [
    { source: "ask", target: "known" },
    { source: "ask", target: "unknown", sourceHandle: "fail" },
  ],
};
const http = httpNode({ allowHosts: ["localhost"] });
const runtime = createRuntime({ store: memoryStore(), workflows: [workflow], nodeDefinitions: { ...builtinNodes, http } });
console.log(await (await runtime.start("price", { input: { sku: "chair" } })).result()); // chair costs 40
console.log(await (await runtime.start("price", { input: { sku: "table" } })).result()); // no table: 404
await runtime.close();
shop.close();
