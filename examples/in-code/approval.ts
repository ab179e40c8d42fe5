import { defineDurable } from "stepfold";
import { z } from "zod";

/** What the approval service calls. */
export interface Shop {
  /** Charges a customer. The same key means the same charge, however often it is asked for. */
  charge(order: { readonly customer: string; readonly total: number; readonly key: string }): Promise<{ readonly receipt: string }>;
  mail(to: string, text: string): Promise<void>;
}

/** An order: small ones are charged at once, others once somebody has approved them, within two days. */
export const order = defineDurable({
  id: "order",
  input: z.object({ customer: z.string(), items: z.array(z.object({ sku: z.string(), price: z.number() })) }),
  waits: { approve: z.object({ approved: z.boolean(), comment: z.string().optional() }) },
  async run({ input, step }, { shop }: { readonly shop: Shop }) {
    const { customer, items } = input;
    const total = items.reduce((sum, { price }) => sum + price, 0);
    if (total > 100) {
      const decision = await step.waitFor("approve", { timeout: "2 days", payload: { title: `Order over ${total}` } });
      if (!decision?.approved) {
        await step.run("tell", () => shop.mail(customer, decision?.comment ?? "nobody has approved your order"));
        return { status: "rejected" as const, total };
      }
    }
    const { receipt } = await step.run("charge", ({ idempotencyKey: key }) => shop.charge({ customer, total, key }));
    await step.run("thank", () => shop.mail(customer, `thank you: ${receipt}`));
    return { status: "paid" as const, total, receipt };
  },
});
