import { equal, holds } from "../../expectations.ts";
import type { QueueContractCase } from "../../queue-contract-case.ts";
import { hear, until } from "./consuming.ts";

/** Ids that an execution may have, and that may cause trouble in names of keys, columns and jobs. */
const oddIds: readonly string[] = [
  "a",
  "1",
  "0042",
  "null",
  "a:b:c",
  "0:1",
  "a b",
  'it\'s "quoted" `so`',
  "{tag}[0]*?",
  "a/b\\c%d$e#f",
  "__proto___",
  "toString",
  "größe",
  "日本語",
  "👍🏽",
  "e\u0301",
  "é",
  "'; DROP TABLE jobs; --",
  "x".repeat(255),
  "ü".repeat(255),
];

/** What a queue promises about sent messages. */
export const queueSendCases: readonly QueueContractCase[] = [
  {
    name: "send: what was sent is delivered, to a consumer that was there",
    async run(bench) {
      const heard = await hear(bench, bench.queue);
      await bench.queue.send([{ workflowId: "a" }, { workflowId: "b" }]);
      await until(bench, () => heard.ids.length >= 2, "two messages are delivered");
      equal(heard.ids.toSorted(), ["a", "b"], "delivered");
      equal(heard.problems, [], "problems");
    },
  },
  {
    name: "send: what was sent is delivered, to a consumer that comes later",
    async run(bench) {
      await bench.queue.send([{ workflowId: "a" }]);
      await bench.queue.send([{ workflowId: "b" }]);
      await bench.advance(100);
      const heard = await hear(bench, bench.queue);
      await until(bench, () => heard.ids.length >= 2, "two messages are delivered");
      equal(heard.ids.toSorted(), ["a", "b"], "delivered");
    },
  },
  {
    name: "send: what one handle sent is delivered to another",
    async run(bench) {
      const heard = await hear(bench, await bench.open());
      await bench.queue.send([{ workflowId: "a" }]);
      await until(bench, () => heard.ids.length > 0, "the message is delivered");
      equal(heard.ids, ["a"], "delivered");
    },
  },
  {
    name: "send: what was acknowledged outlives the handle that sent it",
    needs: "durable",
    async run(bench) {
      await bench.queue.send([{ workflowId: "a" }, { workflowId: "b", delayMs: 500 }]);
      await bench.queue.close();
      const heard = await hear(bench, await bench.open());
      await until(bench, () => heard.ids.length >= 2, "both are delivered", bench.patienceMs + 500);
      equal(heard.ids.toSorted(), ["a", "b"], "delivered");
    },
  },
  {
    name: "send: nothing is no mistake",
    async run(bench) {
      const heard = await hear(bench, bench.queue);
      await bench.queue.send([]);
      await bench.queue.send([{ workflowId: "a" }]);
      await until(bench, () => heard.ids.length > 0, "what was sent afterwards is delivered");
      equal(heard.ids, ["a"], "delivered");
    },
  },
  {
    name: "send: a thousand messages all arrive",
    async run(bench) {
      const sent = Array.from({ length: 1000 }, (_, index) => `id-${index}`);
      const heard = await hear(bench, bench.queue, undefined, 50);
      await bench.queue.send(sent.slice(0, 900).map((workflowId) => ({ workflowId })));
      await Promise.all(sent.slice(900).map((workflowId) => bench.queue.send([{ workflowId }])));
      await until(bench, () => new Set(heard.ids).size === sent.length, "all are delivered", bench.patienceMs + 30_000);
      equal([...new Set(heard.ids)].toSorted(), sent.toSorted(), "delivered");
    },
  },
  {
    name: "send: ids of any kind arrive as they are",
    async run(bench) {
      const heard = await hear(bench, bench.queue);
      await bench.queue.send(oddIds.map((workflowId) => ({ workflowId, dedupeKey: workflowId })));
      await until(bench, () => heard.ids.length >= oddIds.length, "all are delivered");
      equal(heard.ids.toSorted(), oddIds.toSorted(), "delivered");
    },
  },
  {
    name: "send: a message holds the id and nothing else",
    async run(bench) {
      const keys: string[] = [];
      const heard = await hear(bench, bench.queue, async (delivery) => {
        keys.push(...Object.entries(delivery).flatMap(([key, value]) => (typeof value === "function" ? [] : [key])));
      });
      // The caller passes more fields than it should.
      const wakeUp = { workflowId: "a", dedupeKey: "key", delayMs: 0, input: { secret: 1 } };
      await bench.queue.send([wakeUp]);
      await until(bench, () => heard.ids.length > 0, "the message is delivered");
      equal(keys, ["workflowId"], "what a delivery tells");
    },
  },
  {
    name: "send: messages without a key are each delivered",
    async run(bench) {
      await bench.queue.send([{ workflowId: "a" }, { workflowId: "a" }]);
      await bench.queue.send([{ workflowId: "a" }]);
      const heard = await hear(bench, bench.queue);
      await until(bench, () => heard.ids.length >= 3, "three are delivered");
      holds(heard.ids.length === 3, `${heard.ids.length} were delivered`);
    },
  },
];
