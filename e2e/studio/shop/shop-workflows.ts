import { defineNode, FatalError, type StepContext, type WorkflowDefinition } from "stepfold";
import type { RuntimeOptions } from "stepfold/runtime";

/** How one attempt of a step goes: how long it takes, and with which error it fails. */
interface Attempt {
  readonly ms: number;
  readonly error?: { readonly message: string; readonly code?: string; readonly isFinal?: boolean };
}

/** How the attempts of steps go, by the id of the execution and the node, or `undo` and the node for its compensation. The last attempt of a list counts for all further ones. */
export type Attempts = Readonly<Record<string, Readonly<Record<string, readonly Attempt[]>>>>;

/** Waits, by the clock of the shop. */
export type Sleep = (ms: number) => Promise<void>;

/** The items that an order of the warehouse has, by its id; others have none. */
export type Boxes = Readonly<Record<string, number>>;

/** What is not told takes its time too: always the same for a step. */
function usual(workflowId: string, nodeId: string): readonly Attempt[] {
  const hash = [...`${workflowId} ${nodeId}`].reduce((sum, sign) => (sum * 31 + sign.codePointAt(0)!) % 9_973, 7);
  return [{ ms: nodeId === "price" ? 20 + (hash % 60) : 90 + (hash % 1_400) }];
}

/** The node types of the shop: what its services do is told by `attempts`. */
export function shopNodes(attempts: Attempts, boxes: Boxes, sleep: Sleep): NonNullable<RuntimeOptions["nodeDefinitions"]> {
  const perform = async ({ workflowId, nodeId, attempt, compensating }: StepContext): Promise<void> => {
    const known = attempts[workflowId]?.[compensating ? `undo ${nodeId}` : nodeId] ?? usual(workflowId, nodeId);
    const { ms, error } = known[attempt - 1] ?? known.at(-1)!;
    await sleep(ms);
    if (!error) return;
    const { message, code, isFinal } = error;
    throw Object.assign(isFinal ? new FatalError(message) : new Error(message), code !== undefined && { code });
  };
  return {
    http: defineNode({
      async executor(_data, step: StepContext) {
        await perform(step);
        return { data: { status: 200, body: { id: `${step.nodeId}-${step.workflowId}` } } };
      },
    }),
    "price-order": defineNode({
      async executor(data, step: StepContext) {
        await perform(step);
        const count = boxes[step.workflowId] ?? 3;
        return { data: { total: (data as { readonly total: number }).total, boxes: Array.from({ length: count }, (_, box) => box) } };
      },
    }),
    render: defineNode({
      async executor(_data, step: StepContext) {
        step.heartbeat({ page: 12, of: 40 });
        await perform(step);
        return { data: { pages: 40 } };
      },
    }),
    // each thousandth box breaks, some wait for a person, and the others take as long as their number says
    pack: defineNode({
      async executor(data, step: StepContext) {
        const box = data as number;
        await sleep(2_400 + ((box * 137) % 2_600));
        if (box % 1_700 === 811) throw new FatalError("The label printer is out of paper", { details: { box } });
        return box % 500 === 77 && step.resumed === undefined && step.workflowId.startsWith("order")
          ? step.suspend({ message: `Box ${box} is too heavy. Send it?` })
          : { data: { box } };
      },
    }),
  };
}

const input = {
  type: "object",
  properties: {
    order: { type: "string", minLength: 1, title: "Order" },
    customer: { type: "string", minLength: 1, title: "Customer" },
    total: { type: "number", minimum: 0, title: "Total", description: "In EUR, with taxes" },
    express: { type: "boolean", title: "Express" },
    shipping: { title: "Shipping", enum: ["standard", "pickup", "freight"] },
  },
  required: ["order", "customer", "total"],
} as const;

const post = (path: string) => ({ method: "POST", url: `https://shop.example${path}`, body: { json: { order: "{{ input.order }}" } } });

const box: WorkflowDefinition = { id: "box", nodes: [{ id: "pack", type: "pack", data: "{{ input }}" }], edges: [] };

/** Ships what was priced, charged, packed and approved. */
const order: WorkflowDefinition = {
  ...{
    id: "order",
    name: "Order",
    version: "3",
    description: "Prices, charges, packs and ships an order; large ones need two people.",
    input,
  },
  nodes: [
    { id: "price", type: "price-order", data: { total: "{{ input.total }}" } },
    {
      ...{ id: "charge", type: "http", data: post("/charges") },
      retryPolicy: { maxAttempts: 5, interval: "30s", backoff: "exponential" },
    },
    {
      ...{ id: "pack", type: "map" },
      data: { workflow: "box", items: "{{ nodes.price.last.data.boxes }}", concurrency: 200, toleratedFailures: "5%" },
    },
    {
      ...{ id: "approve", type: "approval" },
      data: {
        title: "Order {{ input.order }} of {{ input.customer }}",
        message: "{{ input.total.toFixed(2) }} EUR is a large order. Ship it?",
        ...{ responders: ["ada", "bob"], quorum: 2, timeout: "2h" },
        details: { total: "{{ input.total }}", customer: "{{ input.customer }}", quorum: 2 },
      },
    },
    { id: "ship", type: "http", join: "all", data: post("/shipments") },
    { id: "shipped", type: "end", data: { output: "shipped, {{ input.total.toFixed(2) }} EUR" } },
    { id: "declined", type: "end", data: { output: { order: "{{ input.order }}", declined: true }, terminate: true } },
  ],
  edges: [
    ...["charge", "pack", "approve"].map((target) => ({ source: "price", target })),
    { source: "charge", target: "ship" },
    { source: "pack", target: "ship" },
    { source: "approve", target: "ship", sourceHandle: "approved" },
    { source: "approve", target: "declined", sourceHandle: "rejected" },
    { source: "approve", target: "declined", sourceHandle: "timeout" },
    { source: "ship", target: "shipped" },
  ],
  workflows: { box },
};

/** The order of the version before: it reserves, and gives back what it has reserved. */
const olderOrder: WorkflowDefinition = {
  ...{ id: "order", name: "Order", version: "2", input },
  nodes: [
    { id: "price", type: "price-order", data: { total: "{{ input.total }}" } },
    {
      ...{ id: "reserve", type: "http", data: post("/holds") },
      compensate: { type: "http", data: post("/releases") },
    },
    {
      ...{ id: "charge", type: "http", data: post("/charges") },
      retryPolicy: { maxAttempts: 5, interval: "2s", backoff: "exponential", maxInterval: "8s" },
    },
    { id: "ship", type: "http", data: post("/shipments") },
    { id: "shipped", type: "end", data: { output: "shipped, {{ input.total.toFixed(2) }} EUR" } },
  ],
  edges: [
    { source: "price", target: "reserve" },
    { source: "reserve", target: "charge" },
    { source: "charge", target: "ship" },
    { source: "ship", target: "shipped" },
  ],
};

/** The order of a release that this process does not have. */
const newerOrder: WorkflowDefinition = {
  ...{ id: "order", name: "Order", version: "4", input },
  nodes: [
    { id: "price", type: "price-order", data: { total: "{{ input.total }}" } },
    { id: "pack", type: "pack-by-robot" },
  ],
  edges: [{ source: "price", target: "pack" }],
};

const contentApproval: WorkflowDefinition = {
  ...{ id: "content-approval", version: "4", description: "Renders a post, and publishes it if an editor agrees." },
  nodes: [
    { id: "render", type: "render", timeout: "2 days" },
    {
      id: "review",
      type: "approval",
      data: { message: "Publish “{{ input.title }}”?", responders: ["cy", "the group editors"], timeout: "1 day" },
    },
    { id: "publish", type: "http", data: post("/posts") },
  ],
  edges: [
    { source: "render", target: "review" },
    { source: "review", target: "publish", sourceHandle: "approved" },
  ],
};

const tripBooking: WorkflowDefinition = {
  ...{ id: "trip-booking", version: "7", description: "Books a flight, a hotel and a car, and waits for the payment." },
  nodes: [
    { id: "flight", type: "http", data: post("/flights"), compensate: { type: "http", data: post("/flights/undo") } },
    { id: "hotel", type: "http", data: post("/hotels"), compensate: { type: "http", data: post("/hotels/undo") } },
    { id: "confirm", type: "signal", data: { name: "payment", key: "{{ input.trip }}" } },
    { id: "settle", type: "wait", data: { for: "20m" } },
  ],
  edges: [
    { source: "flight", target: "hotel" },
    { source: "hotel", target: "confirm" },
    { source: "confirm", target: "settle" },
  ],
};

/** Reads page after page. */
const importing: WorkflowDefinition = {
  ...{ id: "import", version: "12", start: "pages", description: "Reads a catalogue, page by page." },
  nodes: [
    { id: "pages", type: "http", data: { method: "GET", url: "https://supplier.example/catalogue" }, keep: 1 },
    { id: "more", type: "if", data: { condition: "{{ nodes.pages.last.data.status === 200 }}" } },
  ],
  edges: [
    { source: "pages", target: "more" },
    { source: "more", target: "pages", sourceHandle: "true" },
  ],
};

/** Packs what a shelf lacks. */
const restock: WorkflowDefinition = {
  ...{ id: "restock", version: "1", description: "Packs what the shelves lack." },
  nodes: [
    { id: "price", type: "price-order", data: { total: 0 } },
    {
      ...{ id: "pack", type: "map" },
      data: { workflow: "box", items: "{{ nodes.price.last.data.boxes }}", concurrency: 200, toleratedFailures: "5%" },
    },
  ],
  edges: [{ source: "price", target: "pack" }],
  workflows: { box },
};

/** All workflows of the shop, by what they are called in its story. */
export const shopWorkflows = { order, olderOrder, newerOrder, contentApproval, tripBooking, importing, restock } as const;
