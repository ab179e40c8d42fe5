import { defineNode, defineWorkflow, FatalError, type NodeDefinition } from "stepfold";
import { builtinNodes } from "stepfold/nodes";

/** A subscription: a trial of 14 days, then a payment every 30 days, until somebody cancels it or three attempts in a row fail. */
export const subscription = defineWorkflow({
  id: "subscription",
  variables: {
    // the latest card, set by any step
    card: {},
    // when the next payment is due
    dueAt: {},
    // the number of payments that failed in a row; a payment that succeeds sets it to 0
    failures: { initial: 0 },
    // the number of paid months
    months: { initial: 0, reducer: "add" },
  },
  start: "begin",
  nodes: [
    { id: "begin", type: "set", data: { vars: { card: "{{ input.card }}", dueAt: "{{ date.add($now, '14 days') }}" } } },
    {
      id: "wait",
      type: "race",
      keep: 1,
      data: { signals: [{ name: "card" }, { name: "cancel" }], timer: { until: "{{ vars.dueAt }}", handle: "due" } },
    },
    { id: "renew", type: "set", keep: 1, data: { vars: { card: "{{ $json.payload }}" } } },
    { id: "owes", type: "if", keep: 1, data: { condition: "{{ vars.failures > 0 }}" } },
    { id: "charge", type: "charge", keep: 1, data: { card: "{{ vars.card }}", amount: "{{ input.price }}" } },
    { id: "paid", type: "set", keep: 1, data: { vars: { failures: 0, months: 1, dueAt: "{{ date.add($now, '30 days') }}" } } },
    {
      id: "unpaid",
      type: "set",
      keep: 1,
      data: { vars: { failures: "{{ vars.failures + 1 }}", dueAt: "{{ date.add($now, '3 days') }}" } },
    },
    { id: "hopeless", type: "if", keep: 1, data: { condition: "{{ vars.failures >= 3 }}" } },
    { id: "lapse", type: "end", data: { output: { ended: "not paid", months: "{{ vars.months }}" } } },
    { id: "used", type: "if", data: { condition: "{{ vars.months > 0 }}" } },
    {
      id: "refund",
      type: "refund",
      data: { card: "{{ vars.card }}", amount: "{{ input.price }}" },
      retryPolicy: { maxAttempts: 10, interval: "1h", backoff: "exponential", maxInterval: "1d" },
    },
    { id: "goodbye", type: "end", data: { output: { ended: "cancelled", months: "{{ vars.months }}" } } },
  ],
  edges: [
    { source: "begin", target: "wait" },
    { source: "wait", target: "renew", sourceHandle: "card" },
    { source: "wait", target: "charge", sourceHandle: "due" },
    { source: "wait", target: "used", sourceHandle: "cancel" },
    { source: "renew", target: "owes" },
    { source: "owes", target: "charge", sourceHandle: "true" },
    { source: "owes", target: "wait", sourceHandle: "false" },
    { source: "charge", target: "paid" },
    { source: "charge", target: "unpaid", sourceHandle: "error" },
    { source: "paid", target: "wait" },
    { source: "unpaid", target: "hopeless" },
    { source: "hopeless", target: "lapse", sourceHandle: "true" },
    { source: "hopeless", target: "wait", sourceHandle: "false" },
    { source: "used", target: "refund", sourceHandle: "true" },
    { source: "used", target: "goodbye", sourceHandle: "false" },
    { source: "refund", target: "goodbye" },
  ],
});

/** A payment in a request to the bank. The same key means the same payment, however often it is requested. */
export interface Payment {
  readonly card: string;
  readonly amount: number;
  readonly key: string;
}

/** The bank that makes the payments. Its methods throw if the bank refuses. */
export interface Bank {
  charge(payment: Payment): void;
  refund(payment: Payment): void;
}

/** Returns the node definitions of the workflow. */
export function nodesOver(bank: Bank): Record<string, NodeDefinition> {
  return {
    ...builtinNodes,
    charge: defineNode({
      executor(data, { idempotencyKey: key }) {
        const payment = data as Omit<Payment, "key">;
        try {
          bank.charge({ ...payment, key });
        } catch (refused) {
          // another attempt at once is useless: the workflow waits some days, or for another card
          throw new FatalError(`the card ${payment.card} is declined`, { cause: refused });
        }
        return { data: payment.amount };
      },
    }),
    refund: defineNode({
      executor(data, { idempotencyKey: key }) {
        const payment = data as Omit<Payment, "key">;
        bank.refund({ ...payment, key });
        return { data: payment.amount };
      },
    }),
  };
}
