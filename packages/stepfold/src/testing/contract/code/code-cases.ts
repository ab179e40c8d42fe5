import { defineDurable } from "../../../durable/define-durable.ts";
import { createRuntime } from "../../../runtime/create-runtime.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal } from "../../expectations.ts";

/** What a store promises about durable code: it goes on where it stood, in this process and in others, and performs nothing twice. */
export const codeCases: readonly ContractCase[] = [
  {
    name: "code: goes on in another process where it stood, with what its steps have given",
    async run({ store, open }) {
      const other = store.features.multiProcess ? await open() : store;
      const performed: string[] = [];
      const order = orderNoting(performed);
      const first = createRuntime({ store, workflows: [order], pollMs: 50 });
      const begun = await first.start(order, { workflowId: "o-1", input: { prices: [3, 4, 5] } });
      equal((await begun.settled()).status, "paused", "after the start");
      await first.close();
      // this one has no code, and drives nothing
      const asker = createRuntime({ store: other, workflows: [], drive: false });
      equal([...performed].sort(), ["price 3", "price 4", "price 5"], "what was performed before the answer");
      const asked = await asker.get("o-1");
      const answer = { step: "approve", payload: { ok: true }, idempotencyKey: "k" };
      const answers = await Promise.all([asked.resume(answer), asked.resume(answer)]);
      equal(answers.map(({ applied }) => applied).sort(), [false, true], "an answer that is given twice");
      await asker.close();
      const second = createRuntime({ store: other, workflows: [order], pollMs: 50 });
      try {
        const run = await second.get("o-1", order);
        await run.signal("card", "visa", { idempotencyKey: "s" });
        const { status, output } = await run.settled();
        equal(status, "completed", "after the answer and the signal");
        equal(output, { total: 12, paid: "visa o-1/0.6#1" }, "what the code returned");
        equal([...performed].sort(), ["charge", "price 3", "price 4", "price 5"], "what was performed");
        const { items } = await run.events();
        equal(
          items.map(({ version }) => version),
          items.map((_event, version) => version),
          "the versions of its history",
        );
      } finally {
        await second.close();
      }
    },
  },
];

/** An order that prices its items at once, waits for an answer and a signal, and charges. */
function orderNoting(performed: string[]) {
  return defineDurable({
    id: "order",
    waits: { approve: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] } },
    signals: { card: { type: "string" } },
    async run({ input, step }) {
      const { prices } = input as { readonly prices: readonly number[] };
      const price = (amount: number): Promise<number> =>
        step.run("price", () => {
          performed.push(`price ${amount}`);
          return amount;
        });
      const priced = await Promise.all(prices.map(price));
      await step.waitFor("approve");
      const card = String(await step.signal("card"));
      const paid = await step.run("charge", ({ idempotencyKey }) => {
        performed.push("charge");
        return `${card} ${idempotencyKey}`;
      });
      return { total: priced.reduce((sum, amount) => sum + amount, 0), paid };
    },
  });
}
