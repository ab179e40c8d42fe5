import { systemEnvironment } from "../../engine/system-environment.ts";
import type { ConsumeOptions, Consumer, Delivery } from "../../ports/work-queue.ts";
import type { PgBossClient, PgBossJob } from "./pg-boss-client.ts";

/** How often pg-boss is told that messages are still being handled: it waits 10 s and more. */
const signOfLifeMs = 3_000;

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
  const held = new Set<PgBossJob>();
  const signal = wakeable();
  let isDraining = false;

  const perform = async (job: PgBossJob): Promise<void> => {
    const { workflowId } = job.data as { workflowId: string };
    const extend = async (): Promise<void> => {
      await boss.touch(name, [job]);
    };
    held.add(job);
    try {
      try {
        await handle({ workflowId, extend });
      } catch (error) {
        onProblem(error);
        await boss.fail(name, job);
        return;
      }
      await boss.deleteJob(name, job);
    } catch (error) {
      // not told of: it comes again when it shows no sign of life any more
      onProblem(error);
    } finally {
      held.delete(job);
    }
  };
  const begin = (job: PgBossJob): void => {
    const performed = perform(job).then(() => {
      underWay.delete(performed);
    });
    underWay.add(performed);
  };
  const fetchSome = async (free: number): Promise<number> => {
    try {
      const jobs = await boss.fetch(name, { batchSize: free });
      for (const job of jobs) begin(job);
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
      else if ((await fetchSome(free)) < free) await signal.wait(pollMs, () => isDraining);
    }
  };

  let cancelSign: () => void = () => undefined;
  const showLife = (): void => {
    cancelSign = systemEnvironment.after(signOfLifeMs, () => {
      showLife();
      // of all in one call; of what was handled meanwhile pg-boss takes no notice
      if (held.size > 0) boss.touch(name, [...held]).catch(onProblem);
    });
  };

  showLife();
  const working = work();
  return {
    look: signal.wake,
    async drain() {
      isDraining = true;
      signal.wake();
      await working;
      await Promise.all(underWay);
      cancelSign();
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
