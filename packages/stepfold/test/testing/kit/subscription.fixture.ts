// A subscription in code: it is paid every month, and ends when it is cancelled or when three payments in a row have failed.
import { z } from "zod";
import { defineDurable } from "../../../src/durable/define-durable.ts";

interface Paid {
  readonly ok: boolean;
}

export const bank = {
  charge(customer: string, _key: string): Paid {
    throw new Error(`The bank of ${customer} is not reached in tests`);
  },
};

export const subscription = defineDurable({
  id: "subscription",
  input: z.object({ customer: z.string() }),
  signals: { cancel: z.object({ reason: z.string() }) },
  async run({ input, step }) {
    for (let failures = 0; ; ) {
      const paid = await step.run("charge", { retry: { maxAttempts: 3, interval: "1h" } }, (sub) =>
        bank.charge(input.customer, sub.idempotencyKey),
      );
      failures = paid.ok ? 0 : failures + 1;
      if (failures === 3) return { ended: "unpaid" };
      const cancelled = await step.signal("cancel", { timeout: failures ? "3 days" : "30 days" });
      if (cancelled) return { ended: cancelled.reason };
    }
  },
});
