import { equal, rejectsWith } from "../../expectations.ts";
import type { QueueContractCase } from "../../queue-contract-case.ts";
import { gate, hear, until } from "./consuming.ts";

/** What a queue promises about closing it. */
export const queueCloseCases: readonly QueueContractCase[] = [
  {
    name: "close: twice is no mistake, and any other call afterwards is refused",
    async run(bench) {
      const queue = await bench.open();
      await Promise.all([queue.close(), queue.close()]);
      await queue.close();
      await rejectsWith("QUEUE_UNAVAILABLE", () => queue.send([{ workflowId: "a" }]));
      await rejectsWith("QUEUE_UNAVAILABLE", () => queue.send([]));
      await rejectsWith("QUEUE_UNAVAILABLE", () => hear(bench, queue));
    },
  },
  {
    name: "close: drains the consumers",
    async run(bench) {
      const hold = gate();
      let isHandled = false;
      const queue = await bench.open();
      const heard = await hear(bench, queue, async () => {
        await hold.opened;
        isHandled = true;
      });
      await queue.send([{ workflowId: "a" }]);
      await until(bench, () => heard.ids.length === 1, "it is under way");
      let isClosed = false;
      const closing = queue.close().then(() => {
        isClosed = true;
      });
      await bench.advance(200);
      equal(isClosed, false, "closed while a handler works");
      hold.open();
      await closing;
      equal(isHandled, true, "handled");
      await bench.queue.send([{ workflowId: "b" }]);
      await bench.advance(bench.patienceMs);
      equal(heard.ids, ["a"], "delivered to the one that is closed");
    },
  },
  {
    name: "close: leaves other handles at work",
    async run(bench) {
      const queue = await bench.open();
      const heard = await hear(bench, bench.queue);
      await queue.send([{ workflowId: "a" }]);
      await queue.close();
      await bench.queue.send([{ workflowId: "b" }]);
      await until(bench, () => heard.ids.length === 2, "both are delivered");
      equal(heard.ids.toSorted(), ["a", "b"], "delivered");
    },
  },
];
