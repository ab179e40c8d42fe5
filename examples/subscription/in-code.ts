import { defineDurable } from "stepfold";
import { z } from "zod";
import type { Bank } from "./subscription.ts";

const day = 86_400_000;
const retry = { maxAttempts: 10, interval: "1h", backoff: "exponential", maxInterval: "1d" } as const;

/** The same subscription as code. Each period is a run of its own, so that the execution holds no more after ten years. */
export const subscription = defineDurable({
  id: "subscription-in-code",
  input: z.object({ card: z.string(), price: z.number(), months: z.number().default(0) }),
  signals: { card: z.string(), cancel: z.unknown() },
  async run({ input, step }, { bank }: { readonly bank: Bank }) {
    let { card, price: amount, months } = input;
    let [dueAt, renewed] = [step.now() + (months === 0 ? 14 : 30) * day, step.signal("card")];
    const cancelled = step.signal("cancel").then(() => "cancelled" as const);
    for (let failures = 0; failures < 3; ) {
      const news = await Promise.race([cancelled, step.sleepUntil("due", dueAt), renewed.then((latest) => ({ latest }))]);
      if (news === "cancelled") {
        if (months > 0) await step.run("refund", { retry }, ({ idempotencyKey: key }) => bank.refund({ card, amount, key }));
        return { ended: "cancelled", months };
      }
      if (news) [card, renewed] = [news.latest, step.signal("card")];
      if (news && failures === 0) continue; // the new card is for the next payment
      const declined = await step.run("charge", ({ idempotencyKey: key }) => bank.charge({ card, amount, key })).catch(() => true);
      if (!declined) return step.continueAs({ card, price: amount, months: months + 1 });
      [failures, dueAt] = [failures + 1, step.now() + 3 * day];
    }
    return { ended: "not paid", months };
  },
});
