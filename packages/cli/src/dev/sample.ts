import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { workflowsFolder } from "./project.ts";

/** An order: priced by a node type of one's own, reserved at a service that fails at first, approved by somebody, shipped. */
const workflow = {
  id: "order",
  name: "Order",
  description: "Prices an order, reserves it at a shaky service, asks somebody, and ships it.",
  input: {
    type: "object",
    properties: {
      order: { type: "string", minLength: 1, title: "Order" },
      customer: { type: "string", minLength: 1, title: "Customer" },
      items: {
        type: "array",
        title: "Items",
        minItems: 1,
        items: {
          type: "object",
          properties: { article: { type: "string" }, price: { type: "number", minimum: 0 }, count: { type: "integer", minimum: 1 } },
          required: ["article", "price", "count"],
        },
      },
    },
    required: ["order", "customer", "items"],
  },
  nodes: [
    { id: "price", type: "price-order", data: { items: "{{ input.items }}" } },
    {
      id: "reserve",
      type: "http",
      data: { method: "POST", url: "{{ globals.shop.url }}/reservations", body: { json: { order: "{{ input.order }}" } } },
      retryPolicy: { maxAttempts: 5, interval: "2s", backoff: "exponential", maxInterval: "10s" },
    },
    { id: "quote", type: "set", data: { text: "{{ nodes.price.last.data.total.toFixed(2) }} EUR for {{ input.customer }}" } },
    {
      id: "approve",
      type: "approval",
      join: "all",
      data: { title: "Order {{ input.order }}: {{ nodes.quote.last.data.text }}", message: "Ship it?", timeout: "2h" },
    },
    {
      id: "ship",
      type: "http",
      data: { method: "POST", url: "{{ globals.shop.url }}/shipments", body: { json: { order: "{{ input.order }}" } } },
      retryPolicy: { maxAttempts: 5, interval: "2s", backoff: "exponential" },
    },
    { id: "shipped", type: "end", data: { output: { order: "{{ input.order }}", shipment: "{{ nodes.ship.last.data.body.id }}" } } },
    { id: "declined", type: "end", data: { output: { order: "{{ input.order }}", declined: true }, terminate: true } },
  ],
  edges: [
    { source: "price", target: "reserve" },
    { source: "price", target: "quote" },
    { source: "reserve", target: "approve" },
    { source: "quote", target: "approve" },
    { source: "approve", target: "ship", sourceHandle: "approved" },
    { source: "approve", target: "declined", sourceHandle: "rejected" },
    { source: "approve", target: "declined", sourceHandle: "timeout" },
    { source: "ship", target: "shipped" },
  ],
};

const config = `import { defineConfig } from "@stepfold/cli";
import { defineNode } from "stepfold";
import { httpNode } from "stepfold/nodes/http";
import { openShop } from "./shop.SUFFIX";

// a node type of your own: any function of JSON data
const priceOrder = defineNode({
  input: { type: "object", properties: { items: { type: "array" } }, required: ["items"] },
  executor(data: { items: { price: number; count: number }[] }) {
    const net = data.items.reduce((sum, { price, count }) => sum + price * count, 0);
    return { data: { net, total: Math.round(net * 119) / 100 } };
  },
});

export default defineConfig({
  nodeDefinitions: { "price-order": priceOrder, http: httpNode({ allowHosts: ["127.0.0.1"] }) },
  // secrets and services for nodes and expressions; they are never stored
  globals: async () => {
    const shop = await openShop();
    return { globals: { shop: { url: shop.url } }, close: shop.close };
  },
});
`;

const shop = `import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// a service to try things with: it fails the first reservation of each order, as real ones do
export async function openShop(): Promise<{ url: string; close: () => void }> {
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      const { order } = JSON.parse(body) as { order: string };
      const key = \`\${request.url} \${order}\`;
      const isBusy = request.url === "/reservations" && !seen.has(key);
      seen.add(key);
      if (request.url === "/shipments") console.log(\`shop: \${order} leaves the house\`);
      response.writeHead(isBusy ? 503 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(isBusy ? { error: "busy" } : { id: \`\${request.url!.slice(1, 3)}-\${order}\` }));
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: \`http://127.0.0.1:\${(server.address() as AddressInfo).port}\`, close };
}
`;

const workflowPath = join(workflowsFolder, "order.json");
const workflowText = `${JSON.stringify(workflow, null, 2)}\n`;

/** The execution of the sample that is started once. */
export const sampleStart = {
  workflow: "order",
  workflowId: "order-1",
  input: { order: "1", customer: "Ada Verne", items: [{ article: "desk", price: 349.5, count: 2 }] },
} as const;

/** What a folder may hold that counts as empty: what `npm init` and `npm install` write, and names with a dot in front. */
const ofEmptyFolder = /^(?:\.|(?:package|package-lock|tsconfig)\.json$|node_modules$|yarn\.lock$|pnpm-lock\.yaml$|bun\.lockb?$)/;

/** True if the working directory holds nothing yet that somebody wrote. */
export function isEmptyFolder(): boolean {
  return readdirSync(".").every((name) => ofEmptyFolder.test(name));
}

/** True if the project is the sample, as it was written. */
export function isSample(): boolean {
  return existsSync(workflowPath) && readFileSync(workflowPath, "utf8") === workflowText;
}

/**
 * Writes the sample into the working directory, which must be empty: no file of the sample may use one that somebody else wrote.
 *
 * @returns the files that were written, as paths relative to the directory
 */
export function writeSample(): readonly string[] {
  // in a package that says it is CommonJS, a .ts file with an import does not load
  const suffix = isCommonJs() ? "mts" : "ts";
  const files: readonly (readonly [path: string, text: string])[] = [
    [workflowPath, workflowText],
    [`stepfold.config.${suffix}`, config.replace("SUFFIX", suffix)],
    [`shop.${suffix}`, shop],
  ];
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: "wx" });
  }
  return files.map(([path]) => path);
}

function isCommonJs(): boolean {
  try {
    return (JSON.parse(readFileSync("package.json", "utf8")) as { type?: unknown }).type === "commonjs";
  } catch {
    return false;
  }
}
