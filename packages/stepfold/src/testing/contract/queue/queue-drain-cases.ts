import { equal, holds } from "../../expectations.ts";
import type { QueueContractCase } from "../../queue-contract-case.ts";
import { gate, hear, until } from "./consuming.ts";

/** What a queue promises about a consumer that stops. */
export const queueDrainCases: readonly QueueContractCase[] = [
  {
    name: "drain: takes nothing more, and others get it",
    async run(bench) {
      const first = await hear(bench, bench.queue);
      await bench.queue.send([{ workflowId: "before" }]);
      await until(bench, () => first.ids.length === 1, "the first is delivered");
      await first.drain();
      await bench.queue.send([{ workflowId: "after" }]);
      await bench.advance(bench.patienceMs);
      equal(first.ids, ["before"], "delivered to the one that stopped");
      const second = await hear(bench, bench.queue);
      await until(bench, () => second.ids.length > 0, "another gets it");
      equal(second.ids, ["after"], "delivered to the other");
    },
  },
  {
    name: "drain: waits for those under way, and these are acknowledged",
    async run(bench) {
      const hold = gate();
      let handled = 0;
      const handle = async (): Promise<void> => {
        await hold.opened;
        await bench.advance(50);
        handled++;
      };
      const first = await hear(bench, await bench.open(), handle);
      await bench.queue.send([{ workflowId: "a" }, { workflowId: "b" }]);
      await until(bench, () => first.ids.length === 2, "both are under way");
      let handledAtEnd = -1;
      const draining = first.drain().then(() => {
        handledAtEnd = handled;
      });
      await bench.advance(200);
      equal(handledAtEnd, -1, "handled when it resolved too early");
      hold.open();
      await draining;
      equal(handledAtEnd, 2, "handled when it resolved");
      const second = await hear(bench, bench.queue);
      await bench.advance(bench.noticeMs);
      equal(second.ids, [], "delivered again");
    },
  },
  {
    name: "drain: leaves the rest to others at once",
    async run(bench) {
      const hold = gate();
      const first = await hear(bench, await bench.open(), () => hold.opened, 1);
      const ids = Array.from({ length: 10 }, (_, index) => `id-${index}`);
      await bench.queue.send(ids.map((workflowId) => ({ workflowId })));
      await until(bench, () => first.ids.length === 1, "one is under way");
      const draining = first.drain();
      const second = await hear(bench, bench.queue);
      const all = (): string[] => [...first.ids, ...second.ids].toSorted();
      await until(bench, () => new Set(all()).size === 10, "another gets the rest", 2 * bench.patienceMs);
      hold.open();
      await draining;
      equal(all(), ids.toSorted(), "delivered");
      holds(first.ids.length <= 2, `${first.ids.length} were delivered to the one that stopped`);
    },
  },
  {
    name: "drain: twice, and while it is being drained, is no mistake",
    async run(bench) {
      const hold = gate();
      const heard = await hear(bench, bench.queue, () => hold.opened);
      await bench.queue.send([{ workflowId: "a" }]);
      await until(bench, () => heard.ids.length === 1, "it is under way");
      const both = [heard.drain(), heard.drain()];
      hold.open();
      await Promise.all(both);
      await heard.drain();
      equal(heard.ids, ["a"], "delivered");
    },
  },
  {
    name: "drain: of one consumer leaves another of the same handle at work",
    async run(bench) {
      const first = await hear(bench, bench.queue);
      const second = await hear(bench, bench.queue);
      await first.drain();
      await bench.queue.send([{ workflowId: "a" }, { workflowId: "b" }]);
      await until(bench, () => second.ids.length === 2, "the other gets them");
      equal(first.ids, [], "delivered to the one that stopped");
    },
  },
];
