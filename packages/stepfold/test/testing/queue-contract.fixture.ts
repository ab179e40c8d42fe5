import { describe, it } from "vitest";
import { isQueueClaimed, type QueueBench, workQueueContract } from "../../src/testing/index.ts";
import { meetsNoServer } from "./no-server.fixture.ts";
import { gateOf } from "./store-contract.fixture.ts";

/** A queue that the contract runs on. */
export interface QueueSubject {
  /** The server, as the title of the tests names it, for example `Redis 7.0.15`. */
  readonly over?: string;
  /** The URL of the server. Null if the server does not answer: the tests are skipped with a message, or fail with REQUIRE_SERVICES=1. */
  readonly url?: string | null;
  /** Makes a new, empty queue for the case with this index. `close` ends everything that the case has left behind. */
  readonly bench: (index: number) => Promise<QueueBench & { readonly close?: () => Promise<void> }>;
  /** The number of cases that run at once. With a real clock they wait most of the time. Default 1. */
  readonly atOnce?: number;
}

/** Runs the whole contract on a queue. `npm run contract` counts the tests below this title. */
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
