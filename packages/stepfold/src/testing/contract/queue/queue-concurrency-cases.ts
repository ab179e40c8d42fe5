import { equal, holds, rejectsWith } from "../../expectations.ts";
import type { QueueContractCase } from "../../queue-contract-case.ts";
import { gate, hear, never, until } from "./consuming.ts";

/** What a queue promises about how many messages are handled at the same time. */
export const queueConcurrencyCases: readonly QueueContractCase[] = [
  {
    name: "concurrency: as many are under way as were asked for, and never more",
    async run(bench) {
      const gates = Array.from({ length: 9 }, () => gate());
      let running = 0;
      let most = 0;
      const work = async (index: number): Promise<void> => {
        most = Math.max(most, ++running);
        await gates[index]!.opened;
        running--;
      };
      const heard = await hear(bench, bench.queue, ({ workflowId }) => work(Number(workflowId)), 3);
      await bench.queue.send(gates.map((_, index) => ({ workflowId: String(index) })));
      await until(bench, () => running === 3, "three are under way");
      await bench.advance(300);
      equal(running, 3, "under way after a while");
      for (const one of gates) one.open();
      await until(bench, () => heard.ids.length === 9 && running === 0, "all are handled");
      equal(most, 3, "the most at once");
    },
  },
  {
    name: "concurrency: one that takes long does not hold up the others",
    async run(bench) {
      const hold = gate();
      const ids = Array.from({ length: 8 }, (_, index) => `quick-${index}`);
      const heard = await hear(bench, bench.queue, ({ workflowId }) => (workflowId === "slow" ? hold.opened : Promise.resolve()), 2);
      await bench.queue.send([{ workflowId: "slow" }]);
      await until(bench, () => heard.ids.length === 1, "the slow one is under way");
      await bench.queue.send(ids.map((workflowId) => ({ workflowId })));
      await until(bench, () => heard.ids.length === 9, "all others are handled meanwhile", 2 * bench.patienceMs);
      hold.open();
    },
  },
  {
    name: "concurrency: two consumers share the messages",
    async run(bench) {
      const hold = gate();
      const first = await hear(bench, bench.queue, () => hold.opened, 2);
      const second = await hear(bench, await bench.open(), () => hold.opened, 2);
      await bench.queue.send(["a", "b", "c", "d"].map((workflowId) => ({ workflowId })));
      await until(bench, () => first.ids.length + second.ids.length === 4, "four are under way");
      equal([first.ids.length, second.ids.length], [2, 2], "at each");
      equal([...first.ids, ...second.ids].toSorted(), ["a", "b", "c", "d"], "delivered");
      hold.open();
    },
  },
  {
    name: "concurrency: a consumer that is busy for ever leaves the others what is there",
    async run(bench) {
      const stuck = await hear(bench, await bench.open(), never, 1);
      await bench.queue.send([{ workflowId: "stuck" }]);
      await until(bench, () => stuck.ids.length === 1, "one is stuck");
      const heard = await hear(bench, bench.queue, undefined, 1);
      await bench.queue.send([{ workflowId: "a" }, { workflowId: "b" }, { workflowId: "c" }]);
      await until(bench, () => ["a", "b", "c"].every((id) => heard.ids.includes(id)), "the others are handled", 2 * bench.patienceMs);
      holds(stuck.ids.length === 1, "the busy one was given another");
    },
  },
  {
    name: "concurrency: what is no whole number from 1 on is refused, and so is such a lease",
    async run({ queue, leaseMs }) {
      const handle = async (): Promise<void> => undefined;
      for (const wrong of [0, -1, 1.5, Number.NaN]) {
        await rejectsWith("OPTION_INVALID", () => queue.consume(handle, { concurrency: wrong, leaseMs, onProblem: never }));
        await rejectsWith("OPTION_INVALID", () => queue.consume(handle, { concurrency: 1, leaseMs: wrong, onProblem: never }));
      }
    },
  },
];
