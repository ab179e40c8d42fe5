import { expect } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import type { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { line, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

/** The effects of the nodes below, in order, with their idempotency keys, and whether the node `fragile` fails. */
export const effects: { done: { readonly what: string; readonly key: string }[]; isBroken: boolean } = { done: [], isBroken: false };

export const moreNodes = {
  ...nodeDefinitions,
  pay: defineNode({
    executor: (_data, step) => {
      effects.done.push({ what: `pay ${JSON.stringify(step.input)}`, key: step.idempotencyKey });
      return { data: { paid: true } };
    },
  }),
  askLate: defineNode({
    executor: (_data, step) => (step.resumed ? { data: step.externalPayload } : step.suspend(null, { timeout: "1h" })),
  }),
  refund: defineNode({
    executor: (_data, step) => {
      effects.done.push({ what: "refund", key: step.idempotencyKey });
      return { data: null };
    },
  }),
  fragile: defineNode({
    retryPolicy: { maxAttempts: 2, interval: "1s", backoff: "fixed" },
    executor: (_data, step) => {
      effects.done.push({ what: `fragile ${step.attempt}`, key: step.idempotencyKey });
      if (effects.isBroken) throw new Error("it is broken");
      return { data: "mended" };
    },
  }),
};

const order = {
  id: "order",
  nodes: [
    { id: "pay", type: "pay", compensate: { type: "refund" } },
    { id: "send", type: "fragile" },
  ],
  edges: [{ source: "pay", target: "send" }],
};
export const plain = {
  id: "plain",
  nodes: [
    { id: "pay", type: "pay" },
    { id: "send", type: "fragile" },
  ],
  edges: order.edges,
};
const late = {
  id: "late",
  nodes: [
    { id: "ask", type: "askLate" },
    { id: "say", type: "say", data: "said" },
  ],
  edges: [{ source: "ask", target: "say" }],
};

export function start() {
  effects.done = [];
  effects.isBroken = false;
  return setUp({ nodeDefinitions: moreNodes, workflows: [order, plain, late, line("talk", "say", "ask", "say")] });
}

export const whatWasDone = (): string[] => effects.done.map(({ what }) => what);
export const codeOf = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "no error",
    ({ code }) => code,
  );

export async function failing(
  runtime: ReturnType<typeof setUp>["runtime"],
  environment: ReturnType<typeof virtualEnvironment>,
  workflow: string,
): Promise<Run> {
  effects.isBroken = true;
  const run = await runtime.start(workflow, { workflowId: "o-1", input: { amount: 5 } });
  const failed = codeOf(run.result());
  await environment.advance(5 * second);
  expect(await failed).toBe("EXECUTION_FAILED");
  effects.isBroken = false;
  return run;
}
