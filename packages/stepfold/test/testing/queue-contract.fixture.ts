import { describe, it } from "vitest";
import { isQueueClaimed, type QueueBench, workQueueContract } from "../../src/testing/index.ts";
import { meetsNoServer } from "./no-server.fixture.ts";
import { gateOf } from "./store-contract.fixture.ts";

/** A queue that the contract runs on. */
export interface QueueSubject {
  /** Where it runs, for people: `Redis 7.0.15`. */
  readonly over?: string;
  /** Null if the server it needs does not answer: then nothing runs, loudly, or fails with REQUIRE_SERVICES=1. */
  readonly url?: string | null;
  /** A new, empty queue for a case. `close` ends whatever the case has left behind. */
  readonly bench: (index: number) => Promise<QueueBench & { readonly close?: () => Promise<void> }>;
  /** Cases that run at once: with a real clock they wait most of the time. Default 1. */
  readonly atOnce?: number;
}

/** Runs the whole contract on a queue. `npm run contract` counts what is below this title. */
export function queueContractOf(name: string, { over, url = "", bench, atOnce = 1 }: QueueSubject): void {
  describe(`WorkQueue contract: ${name}${over === undefined ? "" : ` (${over})`}`, () => {
    if (url === null) {
      meetsNoServer(name);
      return;
    }
    const enter = gateOf(atOnce);
    for (const [index, contractCase] of workQueueContract.entries()) {
      const test = async ({ skip }: { skip: (note?: string) => never }): Promise<void> => {
        const leave = await enter();
        try {
          const opened = await bench(index);
          try {
            if (!isQueueClaimed(contractCase, opened)) skip(`not claimed: ${contractCase.needs}`);
            await contractCase.run(opened);
          } finally {
            await opened.close?.();
          }
        } finally {
          leave();
        }
      };
      if (atOnce > 1) it.concurrent(contractCase.name, test);
      else it(contractCase.name, test);
    }
  });
}
