import { equal, holds } from "../../expectations.ts";
import type { QueueBench, QueueContractCase } from "../../queue-contract-case.ts";
import { gate, hear, never, until } from "./consuming.ts";

/** What a queue promises about consumers that die, and about handlers that take long. */
export const queueLeaseCases: readonly QueueContractCase[] = [
  {
    name: "lease: what a consumer had when it died comes to another",
    async run(bench) {
      const dying = await bench.open();
      const first = await hear(bench, dying, never);
      await bench.queue.send([{ workflowId: "a" }, { workflowId: "b" }]);
      await until(bench, () => first.ids.length === 2, "it has both");
      await bench.kill(dying);
      const second = await hear(bench, bench.queue);
      await until(bench, () => new Set(second.ids).size === 2, "the other gets both", bench.noticeMs);
      equal(second.ids.toSorted(), ["a", "b"], "delivered");
    },
  },
  {
    name: "lease: what a living consumer handles does not come to another",
    async run(bench) {
      const hold = gate();
      const first = await hear(bench, await bench.open(), () => hold.opened);
      await bench.queue.send([{ workflowId: "a" }]);
      await until(bench, () => first.ids.length === 1, "it has it");
      const second = await hear(bench, bench.queue);
      await bench.advance(bench.leaseMs / 2);
      equal(second.ids, [], "delivered to another");
      hold.open();
      await bench.advance(bench.noticeMs);
      equal([...first.ids, ...second.ids], ["a"], "delivered");
    },
  },
  {
    name: "lease: a message is not given up, however many consumers die with it",
    async run(bench) {
      await bench.queue.send([{ workflowId: "a" }]);
      for (let round = 1; round <= 3; round++) {
        const dying = await bench.open();
        const heard = await hear(bench, dying, never);
        await until(bench, () => heard.ids.length > 0, `consumer ${round} gets it`, bench.noticeMs + 2 ** round * bench.patienceMs);
        await bench.kill(dying);
      }
      const last = await hear(bench, bench.queue);
      await until(bench, () => last.ids.length > 0, "the last consumer gets it", bench.noticeMs + 16 * bench.patienceMs);
    },
  },
  {
    name: "lease: extend keeps a message for as long as it is called",
    async run(bench) {
      // If the machine stands still for a whole lease, the lease ends. This is no mistake of the queue, so the case is tried again.
      for (let tries = 1; tries <= 3; tries++) {
        const { ids, isLate } = await extended(bench, `a${tries}`);
        if (isLate && ids.length !== 1 && tries < 3) continue;
        return equal(ids, [`a${tries}`], "delivered");
      }
    },
  },
  {
    name: "lease: extend of what was handled does no harm",
    async run(bench) {
      let extend: () => Promise<void> = never;
      const heard = await hear(bench, bench.queue, async (delivery) => {
        extend = () => delivery.extend();
      });
      await bench.queue.send([{ workflowId: "a" }]);
      await until(bench, () => heard.ids.length > 0, "it is delivered");
      await bench.advance(200);
      const [settled] = await Promise.allSettled([extend()]);
      holds(settled !== undefined, "it settles");
      await bench.advance(bench.noticeMs);
      equal(heard.ids, ["a"], "delivered");
    },
  },
];

/**
 * Handles a message for longer than its lease, and extends the lease often enough. Returns the
 * deliveries of the message, and whether an extension came after the end of a lease.
 */
async function extended(bench: QueueBench, workflowId: string): Promise<{ readonly ids: readonly string[]; readonly isLate: boolean }> {
  const hold = gate();
  let isLate = false;
  const first = await hear(bench, await bench.open(), async (delivery) => {
    let extendedAt = performance.now();
    for (let passedMs = 0; passedMs < 2 * bench.noticeMs; passedMs += bench.leaseMs / 3) {
      await delivery.extend();
      isLate ||= performance.now() - extendedAt >= bench.leaseMs;
      extendedAt = performance.now();
      await bench.advance(bench.leaseMs / 3);
    }
    hold.open();
  });
  await bench.queue.send([{ workflowId }]);
  await until(bench, () => first.ids.length === 1, "it has it");
  const second = await hear(bench, bench.queue);
  await hold.opened;
  await bench.advance(bench.patienceMs);
  await Promise.all([first, second].map((heard) => heard.drain()));
  return { ids: [...first.ids, ...second.ids], isLate };
}
