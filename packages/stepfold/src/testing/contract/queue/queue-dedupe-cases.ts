import { holds } from "../../expectations.ts";
import type { QueueContractCase } from "../../queue-contract-case.ts";
import { gate, HandlerFailure, hear, until } from "./consuming.ts";

const wakeUp = { workflowId: "a", dedupeKey: "key" };

/** What a queue promises about messages with the same key: they may become one message, but a wake-up is never swallowed. */
export const queueDedupeCases: readonly QueueContractCase[] = [
  {
    name: "dedupe: two with one key are one delivery or two",
    async run(bench) {
      await bench.queue.send([wakeUp]);
      await bench.queue.send([wakeUp]);
      const heard = await hear(bench, bench.queue);
      await until(bench, () => heard.ids.length > 0, "one is delivered");
      await bench.advance(bench.patienceMs);
      holds(heard.ids.length <= 2, `${heard.ids.length} were delivered`);
    },
  },
  {
    name: "dedupe: two with one key in one call are one delivery or two",
    async run(bench) {
      const heard = await hear(bench, bench.queue);
      await bench.queue.send([wakeUp, { workflowId: "b" }, wakeUp]);
      await until(bench, () => heard.ids.includes("a") && heard.ids.includes("b"), "both executions are woken");
      await bench.advance(bench.patienceMs);
      holds(heard.ids.length <= 3, `${heard.ids.length} were delivered`);
    },
  },
  {
    name: "dedupe: a key that was delivered before does not swallow what is sent later",
    async run(bench) {
      const heard = await hear(bench, bench.queue);
      for (let round = 1; round <= 3; round++) {
        await bench.queue.send([wakeUp]);
        await until(bench, () => heard.ids.length >= round, `message ${round} is delivered`);
        // Enough time for the acknowledgement.
        await bench.advance(200);
      }
    },
  },
  {
    name: "dedupe: a key that is being handled does not swallow what is sent meanwhile",
    async run(bench) {
      const hold = gate();
      const heard = await hear(bench, bench.queue, () => (heard.ids.length === 1 ? hold.opened : Promise.resolve()));
      await bench.queue.send([wakeUp]);
      await until(bench, () => heard.ids.length === 1, "the first is delivered");
      await bench.queue.send([wakeUp]);
      await bench.queue.send([wakeUp]);
      await bench.advance(200);
      hold.open();
      await until(bench, () => heard.ids.length >= 2, "what was sent while the first was being handled is delivered");
    },
  },
  {
    name: "dedupe: a key that is being handled elsewhere does not swallow what is sent meanwhile",
    async run(bench) {
      const hold = gate();
      const first = await hear(bench, await bench.open(), () => hold.opened, 1);
      await bench.queue.send([wakeUp]);
      await until(bench, () => first.ids.length === 1, "the first is delivered");
      await bench.queue.send([wakeUp]);
      const draining = first.drain();
      hold.open();
      await draining;
      const second = await hear(bench, bench.queue);
      await until(bench, () => second.ids.length > 0, "what was sent meanwhile is delivered");
    },
  },
  {
    name: "dedupe: a key whose handler failed does not swallow what is sent later",
    async run(bench) {
      let isFailing = true;
      const heard = await hear(bench, bench.queue, async () => {
        if (isFailing) throw new HandlerFailure("as asked");
      });
      await bench.queue.send([wakeUp]);
      await until(bench, () => heard.problems.length > 0, "the first has failed");
      await bench.queue.send([wakeUp]);
      const before = heard.ids.length;
      isFailing = false;
      await until(bench, () => heard.ids.length > before, "something is delivered after the second was sent");
    },
  },
  {
    name: "dedupe: what is due now is not put off to a later one with its key, and the later one comes too",
    needs: "delays",
    async run(bench) {
      const delayMs = bench.patienceMs + 2_000;
      await bench.queue.send([{ ...wakeUp, delayMs }]);
      await bench.queue.send([wakeUp]);
      const heard = await hear(bench, bench.queue);
      await until(bench, () => heard.ids.length > 0, "the one that is due is delivered");
      await until(bench, () => heard.ids.length > 1, "the later one is delivered", delayMs + bench.patienceMs);
    },
  },
  {
    name: "dedupe: a later one with the same key is not merged into one that is due now",
    needs: "delays",
    async run(bench) {
      await bench.queue.send([wakeUp]);
      await bench.queue.send([{ ...wakeUp, delayMs: 1_000 }]);
      const heard = await hear(bench, bench.queue);
      await until(bench, () => heard.ids.length > 1, "both are delivered", 1_000 + bench.patienceMs);
    },
  },
];
