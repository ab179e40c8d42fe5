import { equal, holds, present } from "../../expectations.ts";
import type { QueueContractCase } from "../../queue-contract-case.ts";
import { HandlerFailure, hear, until } from "./consuming.ts";

/** What a queue promises if it can send messages in a transaction of the store. */
export const queueTransactionCases: readonly QueueContractCase[] = [
  {
    name: "sendIn: nobody gets a message before the transaction is committed",
    needs: "joins",
    async run(bench) {
      const transact = present(bench.transact, "transact of the bench");
      const heard = await hear(bench, bench.queue);
      await transact(async (query) => {
        await bench.queue.sendIn!(query, [{ workflowId: "a" }, { workflowId: "b", delayMs: 100 }]);
        await bench.advance(bench.patienceMs + 100);
        equal(heard.ids, [], "delivered before the commit");
      });
      await until(bench, () => heard.ids.length >= 2, "both are delivered after the commit");
      equal(heard.ids.toSorted(), ["a", "b"], "delivered");
    },
  },
  {
    name: "sendIn: nothing is sent if the transaction is undone",
    needs: "joins",
    async run(bench) {
      const transact = present(bench.transact, "transact of the bench");
      const heard = await hear(bench, bench.queue);
      const [undone] = await Promise.allSettled([
        transact(async (query) => {
          await bench.queue.sendIn!(query, [{ workflowId: "a", dedupeKey: "key" }]);
          throw new HandlerFailure("as asked");
        }),
      ]);
      equal(undone.status, "rejected", "the transaction");
      await bench.advance(bench.patienceMs);
      equal(heard.ids, [], "delivered");
      await bench.queue.send([{ workflowId: "b", dedupeKey: "key" }]);
      await until(bench, () => heard.ids.length > 0, "what is sent later is delivered");
      equal(heard.ids, ["b"], "delivered");
    },
  },
  {
    name: "sendIn: is not merged with a message that is delivered before the commit",
    needs: "joins",
    async run(bench) {
      const transact = present(bench.transact, "transact of the bench");
      const wakeUp = { workflowId: "a", dedupeKey: "key" };
      await bench.queue.send([wakeUp]);
      const ids: string[] = [];
      let before = 0;
      await transact(async (query) => {
        await bench.queue.sendIn!(query, [wakeUp]);
        await hear(bench, bench.queue, async ({ workflowId }) => {
          ids.push(workflowId);
        });
        await until(bench, () => ids.length > 0, "the first is delivered");
        await bench.advance(200);
        before = ids.length;
      });
      await until(bench, () => ids.length > before, "something is delivered after the commit");
    },
  },
  {
    name: "sendIn: nothing is no mistake",
    needs: "joins",
    async run(bench) {
      let asked = 0;
      await bench.queue.sendIn!(async () => {
        asked++;
        return { rows: [] };
      }, []);
      holds(asked === 0, "something was written");
    },
  },
];
