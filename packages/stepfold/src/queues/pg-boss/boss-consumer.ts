import { systemEnvironment } from "../../engine/system-environment.ts";
import type { ConsumeOptions, Consumer, Delivery } from "../../ports/work-queue.ts";
import { jobHands } from "./job-handler.ts";
import type { PgBossClient } from "./pg-boss-client.ts";

/** A consumer that looks for messages by itself, and sooner when it is told of some. */
export interface BossConsumer extends Consumer {
  /** There may be something now. */
  look(): void;
}

/** Fetches as many messages as have a free place. */
export function bossConsumer(
  boss: PgBossClient,
  name: string,
  handle: (delivery: Delivery) => Promise<void>,
  { concurrency, onProblem, pollMs }: ConsumeOptions & { readonly pollMs: number },
): BossConsumer {
  const underWay = new Set<Promise<void>>();
  const hands = jobHands(boss, name, handle, { onProblem });
  const pause = wakeable();
  let isDraining = false;

  const fetchSome = async (free: number): Promise<number> => {
    try {
      const jobs = await boss.fetch(name, { batchSize: free });
      for (const job of jobs) {
        const handled = hands.handle(job).then(() => {
          underWay.delete(handled);
        });
        underWay.add(handled);
      }
      return jobs.length;
    } catch (error) {
      onProblem(error);
      return 0;
    }
  };
  const work = async (): Promise<void> => {
    while (!isDraining) {
      const free = concurrency - underWay.size;
      if (free === 0) await Promise.race(underWay);
      else if ((await fetchSome(free)) < free) await pause.wait(pollMs, () => isDraining);
    }
  };

  const working = work();
  return {
    look: pause.wake,
    async drain() {
      isDraining = true;
      pause.wake();
      await working;
      await Promise.all(underWay);
      hands.close();
    },
  };
}

/** A pause that can be ended; who wakes while nobody waits ends the next one at once. */
function wakeable(): { wake(): void; wait(durationMs: number, isOver: () => boolean): Promise<void> } {
  let isAwake = false;
  let end: () => void = () => undefined;
  return {
    wake() {
      isAwake = true;
      end();
    },
    async wait(durationMs, isOver) {
      if (!isAwake && !isOver()) {
        await new Promise<void>((resolve) => {
          const cancel = systemEnvironment.after(durationMs, resolve);
          end = () => {
            cancel();
            resolve();
          };
        });
      }
      isAwake = false;
    },
  };
}
