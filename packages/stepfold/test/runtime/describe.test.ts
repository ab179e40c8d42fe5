import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { closeAll, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

const nodeDefinitions = {
  charge: defineNode({
    input: z.object({ amount: z.number() }),
    output: { type: "object" },
    handles: ["paid", "declined"],
    retryPolicy: { maxAttempts: 3, interval: "1s", backoff: "fixed" },
    metadata: { label: "Charge a card" },
    executor: () => ({ data: {}, nextHandle: "paid" as const }),
  }),
  book: defineNode({ input: z.object({ at: z.date() }), executor: () => ({ data: null }) }),
  approval: builtinNodes.approval,
};
const workflow = { id: "order", name: "Order", nodes: [{ id: "ask", type: "approval" }], edges: [] };

it("tells of the workflows and the node types of a runtime, as plain JSON", () => {
  const { runtime } = setUp({ nodeDefinitions: nodeDefinitions as never, workflows: [workflow] });
  const described = runtime.describe();
  expect(JSON.parse(JSON.stringify(described))).toEqual(described);
  expect(described.workflows).toEqual([
    { id: "order", hash: expect.stringMatching(/^[0-9a-f]{64}$/), definition: expect.objectContaining(workflow), missingTypes: [] },
  ]);
  const [ask, book, charge] = described.nodeTypes;
  expect(ask).toMatchObject({
    type: "approval",
    handles: ["approved", "rejected"],
    resume: { properties: { approved: { type: "boolean" } } },
  });
  // JSON Schema cannot express a date, so the schema of the input is null
  expect(book).toEqual({ type: "book", input: null, metadata: {} });
  expect(charge).toEqual({
    ...{ type: "charge", handles: ["paid", "declined"], metadata: { label: "Charge a card" } },
    input: expect.objectContaining({ type: "object", required: ["amount"] }),
    output: { type: "object" },
    retryPolicy: { maxAttempts: 3, interval: "1s", backoff: "fixed" },
  });
});

it("names the node types of a workflow whose code is somewhere else", () => {
  const { runtime } = setUp({ nodeDefinitions: undefined as never, drive: false, workflows: [workflow] });
  expect(runtime.describe()).toMatchObject({ workflows: [{ id: "order", missingTypes: ["approval"] }], nodeTypes: [] });
});
