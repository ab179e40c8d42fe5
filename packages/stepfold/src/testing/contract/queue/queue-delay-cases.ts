import { equal, holds, present, rejectsWith } from "../../expectations.ts";
import type { QueueContractCase } from "../../queue-contract-case.ts";
import { hear, until } from "./consuming.ts";

const delayMs = 3_000;

/** What a queue promises about messages with a delay. */
export const queueDelayCases: readonly QueueContractCase[] = [
  {
    name: "delay: a message does not come before its time, and comes then",
    needs: "delays",
    async run(bench) {
      const heard = await hear(bench, bench.queue);
      await bench.queue.send([{ workflowId: "late", delayMs }]);
      await bench.advance(delayMs / 2);
      equal(heard.ids, [], "delivered after half the time");
      await until(bench, () => heard.ids.length > 0, "the message is delivered", delayMs / 2 + bench.patienceMs);
      equal(heard.ids, ["late"], "delivered");
    },
  },
  {
    name: "delay: what is due is not held up by what is not",
    needs: "delays",
    async run(bench) {
      const heard = await hear(bench, bench.queue, undefined, 1);
      await bench.queue.send([
        { workflowId: "late", delayMs: delayMs + bench.patienceMs },
        { workflowId: "now" },
        { workflowId: "soon", delayMs: 50 },
      ]);
      await until(bench, () => heard.ids.length >= 2, "the two that are due are delivered", bench.patienceMs + 50);
      equal(heard.ids.toSorted(), ["now", "soon"], "delivered");
      await until(bench, () => heard.ids.includes("late"), "the other is delivered", delayMs + 2 * bench.patienceMs);
    },
  },
  {
    name: "delay: a message that became due while nobody was there is not lost",
    needs: "delays",
    async run(bench) {
      await bench.queue.send([{ workflowId: "a", delayMs: 300 }]);
      await bench.advance(1_000);
      const heard = await hear(bench, await bench.open());
      await until(bench, () => heard.ids.length > 0, "the message is delivered");
      equal(heard.ids, ["a"], "delivered");
    },
  },
  {
    name: "delay: what is in the past is due now",
    async run(bench) {
      const heard = await hear(bench, bench.queue);
      await bench.queue.send([{ workflowId: "a", delayMs: -86_400_000 }]);
      await bench.queue.send([{ workflowId: "b", delayMs: 0.25 }]);
      await until(bench, () => heard.ids.length >= 2, "both are delivered");
      equal(heard.ids.toSorted(), ["a", "b"], "delivered");
    },
  },
  {
    name: "delay: what is no number is refused, and nothing of the list is sent",
    async run(bench) {
      const heard = await hear(bench, bench.queue);
      await rejectsWith("OPTION_INVALID", () => bench.queue.send([{ workflowId: "a" }, { workflowId: "b", delayMs: Number.NaN }]));
      await bench.advance(bench.patienceMs);
      equal(heard.ids, [], "delivered");
    },
  },
  {
    name: "delay: months ahead are taken, and do not come at once",
    needs: "delays",
    async run(bench) {
      const heard = await hear(bench, bench.queue);
      const monthMs = 30 * 24 * 60 * 60 * 1000;
      await bench.queue.send([
        { workflowId: "later", delayMs: monthMs },
        { workflowId: "much later", delayMs: 11 * monthMs },
      ]);
      await bench.advance(bench.patienceMs);
      equal(heard.ids, [], "delivered");
    },
  },
  {
    name: "delay: a number beyond every clock is taken, and does not come at once",
    needs: "delays",
    async run(bench) {
      const heard = await hear(bench, bench.queue);
      const delays = [9e15, 1e18, 1e308, Number.MAX_VALUE, Number.POSITIVE_INFINITY];
      await bench.queue.send(delays.map((delayMs) => ({ workflowId: `after ${delayMs}`, delayMs })));
      await bench.queue.send([{ workflowId: "now", delayMs: -1e308 }]);
      await until(bench, () => heard.ids.length > 0, "what is in the past is delivered");
      await bench.advance(bench.patienceMs);
      equal(heard.ids, ["now"], "delivered");
    },
  },
  {
    name: "delay: one that is too long is shortened, and does not come at once",
    needs: "maxDelayMs",
    async run(bench) {
      const mostMs = present(bench.queue.features.maxDelayMs, "maxDelayMs");
      const heard = await hear(bench, bench.queue);
      await bench.queue.send([
        { workflowId: "a", delayMs: mostMs * 10 },
        { workflowId: "b", delayMs: Number.MAX_SAFE_INTEGER },
      ]);
      await bench.advance(Math.min(bench.patienceMs, mostMs / 2));
      equal(heard.ids, [], "delivered at once");
      holds(mostMs >= 60_000, `the longest delay is ${mostMs} ms: too short to be of use`);
    },
  },
];
