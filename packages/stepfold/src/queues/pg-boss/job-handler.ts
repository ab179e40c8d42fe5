import { systemEnvironment } from "../../engine/system-environment.ts";
import type { ConsumeOptions, Delivery } from "../../ports/work-queue.ts";
import type { PgBossClient, PgBossJob } from "./pg-boss-client.ts";

/** How often pg-boss is told that messages are still being handled: it waits 10 s and more. */
const signOfLifeMs = 3_000;

/** Jobs that are being handled. */
export interface JobHands {
  /** Resolves when the job is settled, or cannot be. */
  handle(job: PgBossJob): Promise<void>;
  /** Shows no more signs of life. */
  close(): void;
}

/** Handles jobs one by one, and shows pg-boss signs of life of all together. */
export function jobHands(
  boss: PgBossClient,
  name: string,
  handle: (delivery: Delivery) => Promise<void>,
  { onProblem }: Pick<ConsumeOptions, "onProblem">,
): JobHands {
  const held = new Set<PgBossJob>();
  let cancel: () => void = () => undefined;
  const showLife = (): void => {
    cancel = systemEnvironment.after(signOfLifeMs, () => {
      showLife();
      // of what was handled meanwhile pg-boss takes no notice
      if (held.size > 0) boss.touch(name, [...held]).catch(onProblem);
    });
  };
  const settle = async (job: PgBossJob): Promise<void> => {
    const { workflowId } = job.data as { workflowId: string };
    const extend = async (): Promise<void> => {
      await boss.touch(name, [job]);
    };
    try {
      await handle({ workflowId, extend });
    } catch (error) {
      onProblem(error);
      await boss.fail(name, job);
      return;
    }
    await boss.deleteJob(name, job);
  };

  showLife();
  return {
    async handle(job) {
      held.add(job);
      try {
        await settle(job);
      } catch (error) {
        // not told of: it comes again when it shows no sign of life any more
        onProblem(error);
      } finally {
        held.delete(job);
      }
    },
    close: () => cancel(),
  };
}
