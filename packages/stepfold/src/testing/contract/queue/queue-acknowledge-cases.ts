import { equal, holds } from "../../expectations.ts";
import type { QueueContractCase } from "../../queue-contract-case.ts";
import { gate, HandlerFailure, hear, until } from "./consuming.ts";

/** What a queue promises about acknowledging messages. */
export const queueAcknowledgeCases: readonly QueueContractCase[] = [
  {
    name: "acknowledge: what was handled does not come again",
    async run(bench) {
      const heard = await hear(bench, bench.queue);
      await bench.queue.send([{ workflowId: "a" }, { workflowId: "b", delayMs: 10 }]);
      await until(bench, () => heard.ids.length >= 2, "both are delivered");
      await bench.advance(bench.noticeMs);
      equal(heard.ids.toSorted(), ["a", "b"], "delivered");
    },
  },
  {
    name: "acknowledge: a message whose handler rejects comes again, and the problem is told",
    async run(bench) {
      const heard = await hear(bench, bench.queue, async () => {
        if (heard.ids.length === 1) throw new HandlerFailure("the first time");
      });
      await bench.queue.send([{ workflowId: "a" }]);
      await until(bench, () => heard.ids.length >= 2, "it is delivered again");
      equal(heard.ids, ["a", "a"], "delivered");
      holds(
        heard.problems.some((problem) => problem instanceof HandlerFailure),
        "the consumer was not told of what its handler threw",
      );
    },
  },
  {
    name: "acknowledge: a handler that throws before it has returned a promise rejects, too",
    async run(bench) {
      const heard = await hear(bench, bench.queue, (): Promise<void> => {
        if (heard.ids.length === 1) throw new HandlerFailure("at once");
        return Promise.resolve();
      });
      await bench.queue.send([{ workflowId: "a" }]);
      await until(bench, () => heard.ids.length >= 2, "it is delivered again");
    },
  },
  {
    name: "acknowledge: a rejected message comes to another consumer, if the first is gone",
    async run(bench) {
      const hold = gate();
      const first = await hear(bench, await bench.open(), async () => {
        await hold.opened;
        throw new HandlerFailure("as asked");
      });
      await bench.queue.send([{ workflowId: "a" }]);
      await until(bench, () => first.ids.length === 1, "the first consumer has it");
      const draining = first.drain();
      hold.open();
      await draining;
      const second = await hear(bench, bench.queue);
      await until(bench, () => second.ids.length > 0, "the second consumer gets it");
      equal([first.ids, second.ids], [["a"], ["a"]], "delivered");
    },
  },
  {
    name: "acknowledge: a message is not given up, however often it fails",
    async run(bench) {
      const failures = 4;
      const heard = await hear(bench, bench.queue, async () => {
        if (heard.ids.length <= failures) throw new HandlerFailure("once more");
      });
      await bench.queue.send([{ workflowId: "a" }]);
      // The time between two deliveries may grow.
      await until(bench, () => heard.ids.length > failures, "it is delivered again and again", 2 ** failures * bench.patienceMs);
    },
  },
  {
    name: "acknowledge: what one handler throws does not keep others from their messages",
    async run(bench) {
      const heard = await hear(
        bench,
        bench.queue,
        async ({ workflowId }) => {
          if (workflowId === "bad") throw new HandlerFailure("always");
        },
        1,
      );
      await bench.queue.send([{ workflowId: "bad" }, ...["a", "b", "c"].map((workflowId) => ({ workflowId }))]);
      await until(bench, () => ["a", "b", "c"].every((id) => heard.ids.includes(id)), "the others are handled", 2 * bench.patienceMs);
    },
  },
];
