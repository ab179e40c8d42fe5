import { systemEnvironment } from "../../environment/system-environment.ts";
import type { ConsumeOptions, Consumer, Delivery } from "../../ports/work-queue.ts";
import { jobHandler } from "./job-handler.ts";
import type { PgBossClient } from "./pg-boss-client.ts";

/** A consumer that polls for messages, and polls at once when it is told to. */
export interface BossConsumer extends Consumer {
  /** Polls at once, because there may be a message. */
  look(): void;
}

/** Fetches as many messages as it has room for. */
export function bossConsumer(
  boss: PgBossClient,
  name: string,
  handle: (delivery: Delivery) => Promise<void>,
  { concurrency, onProblem, pollMs }: ConsumeOptions & { readonly pollMs: number },
): BossConsumer {
  const inFlight = new Set<Promise<void>>();
  const jobs = jobHandler(boss, name, handle, { onProblem });
  const pause = wakeable();
  let isDraining = false;

  const fetchSome = async (free: number): Promise<number> => {
    try {
      const fetched = await boss.fetch(name, { batchSize: free });
      for (const job of fetched) {
        const handled = jobs.handle(job).then(() => {
          inFlight.delete(handled);
        });
        inFlight.add(handled);
      }
      return fetched.length;
    } catch (error) {
      onProblem(error);
      return 0;
    }
  };
  const work = async (): Promise<void> => {
    while (!isDraining) {
      const free = concurrency - inFlight.size;
      if (free === 0) await Promise.race(inFlight);
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
      await Promise.all(inFlight);
      jobs.close();
    },
  };
}

/** A pause that can be ended. A `wake` before the pause ends the next one at once. */
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
