import { systemEnvironment } from "../../environment/system-environment.ts";
import type { ConsumeOptions, Delivery } from "../../ports/work-queue.ts";
import { foreignMessage, workflowIdOf } from "../checked/wake-up-message.ts";
import type { PgBossClient, PgBossJob } from "./pg-boss-client.ts";

/** How often pg-boss is told that messages are still being handled, in milliseconds. pg-boss waits for such a heartbeat at least 10 s. */
const heartbeatMs = 3_000;

/** Handles jobs of pg-boss. */
export interface JobHandler {
  /** Resolves when the job is settled, or when it cannot be settled. */
  handle(job: PgBossJob): Promise<void>;
  /** Sends no more heartbeats. */
  close(): void;
}

/** Handles each job with `handle`, and sends heartbeats for all jobs in flight together. */
export function jobHandler(
  boss: PgBossClient,
  name: string,
  handle: (delivery: Delivery) => Promise<void>,
  { onProblem }: Pick<ConsumeOptions, "onProblem">,
): JobHandler {
  const inFlight = new Set<PgBossJob>();
  let cancel: () => void = () => undefined;
  const beat = (): void => {
    cancel = systemEnvironment.after(heartbeatMs, () => {
      beat();
      // pg-boss ignores jobs that are settled by now
      if (inFlight.size > 0) boss.touch(name, [...inFlight]).catch(onProblem);
    });
  };
  const settle = async (job: PgBossJob): Promise<void> => {
    const workflowId = workflowIdOf(job.data);
    if (workflowId === null) {
      onProblem(foreignMessage("pg-boss"));
      await boss.deleteJob(name, job);
      return;
    }
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

  beat();
  return {
    async handle(job) {
      inFlight.add(job);
      try {
        await settle(job);
      } catch (error) {
        // pg-boss does not know that it is settled: it delivers the job again when the heartbeats have stopped
        onProblem(error);
      } finally {
        inFlight.delete(job);
      }
    },
    close: () => cancel(),
  };
}
