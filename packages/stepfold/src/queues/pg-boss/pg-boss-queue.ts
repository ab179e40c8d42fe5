import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { aDelayInSeconds, aFlag, aPeriod, aText, checkOptions, requireMethods } from "../../core/values/check-arguments.ts";
import { systemEnvironment } from "../../environment/system-environment.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { type CheckedWakeUp, checkedQueue } from "../checked/checked-queue.ts";
import { type BossConsumer, bossConsumer } from "./boss-consumer.ts";
import type { PgBossClient, PgBossInsert, PgBossJobSettings } from "./pg-boss-client.ts";

/** How a pg-boss queue behaves. */
export interface PgBossQueueOptions {
  /** Name of the queue in pg-boss. It is created if it does not exist. Default `stepfold`. */
  readonly name?: string | undefined;
  /** How often a consumer that has room looks for messages, in milliseconds. Default 1,000. */
  readonly pollMs?: number | undefined;
  /**
   * How long a message waits after its handler failed the first time, in whole seconds. Each further failure doubles the time, up to a
   * minute, or up to this time if it is longer. Default 1.
   */
  readonly retryDelaySeconds?: number | undefined;
  /**
   * True if your store is `postgresStore` on the same database and its user may write pg-boss's tables: then a wake-up is
   * sent in the same transaction as the commit that it belongs to. Default false.
   */
  readonly sharesStoreDatabase?: boolean | undefined;
}

/** The shortest heartbeat that pg-boss allows. */
const minHeartbeatSeconds = 10;
const daySeconds = 24 * 60 * 60;
/** Ten years. An unlimited delay could go beyond the last timestamp of PostgreSQL. */
const maxDelayMs = 3650 * daySeconds * 1000;
/** The most jobs in one statement. */
const maxJobs = 1000;
/** The longest key, in characters. A longer one would not fit into an entry of the index. */
const maxKeyLength = 500;

/**
 * A queue in pg-boss 12. You hand in a `PgBoss` that was started, and stop it yourself. One of the processes that share the
 * queue must supervise, as pg-boss does by default: messages of dead consumers are then given to others.
 *
 * ```ts
 * import { PgBoss } from "pg-boss";
 * import { pgBossQueue } from "stepfold/queues/pg-boss";
 *
 * const boss = new PgBoss(process.env.DATABASE_URL);
 * boss.on("error", console.error);
 * await boss.start();
 * const queue = pgBossQueue(boss);
 * await queue.send([{ workflowId: "order-1", delayMs: 60_000 }]);
 * await queue.close();
 * await boss.stop();
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function pgBossQueue(boss: PgBossClient, options: PgBossQueueOptions = {}): WorkQueue {
  requireMethods("boss", boss, "a PgBoss of pg-boss", ["getQueue", "insert"]);
  checkOptions("pgBossQueue", options, { name: aText, pollMs: aPeriod, retryDelaySeconds: aDelayInSeconds, sharesStoreDatabase: aFlag });
  const { name = "stepfold", pollMs = 1000, retryDelaySeconds = 1, sharesStoreDatabase = false } = options;
  const consumers = new Set<BossConsumer>();
  const settings = settingsOf(retryDelaySeconds);
  let ready: Promise<void> | null = null;

  const prepare = (): Promise<void> => {
    // after a failure the next call tries again
    ready ??= makeQueue(boss, name, settings).catch((cause: unknown) => {
      ready = null;
      throw cause;
    });
    return ready;
  };
  const insert = async (wakeUps: readonly CheckedWakeUp[], db?: Parameters<PgBossClient["insert"]>[2]): Promise<void> => {
    await prepare();
    for (let from = 0; from < wakeUps.length; from += maxJobs) {
      const some = wakeUps.slice(from, from + maxJobs).map((wakeUp) => jobOf(wakeUp, settings));
      await boss.insert(name, some, db);
    }
  };

  return checkedQueue({
    name: "pg-boss",
    features: { durable: true, multiProcess: true, maxDelayMs, ...(sharesStoreDatabase && { joins: "postgres" }) },
    async send(wakeUps) {
      await insert(wakeUps);
      // consumers of this process need not wait for their next poll
      if (wakeUps.some(({ delayMs }) => delayMs === 0)) for (const consumer of consumers) consumer.look();
    },
    ...(sharesStoreDatabase && {
      sendIn: (query, wakeUps) =>
        insert(
          // without a key, because a message with the same key that exists already could be delivered before the commit
          wakeUps.map(({ workflowId, delayMs }) => ({ workflowId, delayMs })),
          { db: { executeSql: async (text, values) => ({ rows: [...(await query(text, values)).rows] }) } },
        ),
    }),
    async consume(handle, consuming) {
      await prepare();
      await setLease(boss, name, consuming.leaseMs);
      const consumer = bossConsumer(boss, name, handle, { ...consuming, pollMs });
      consumers.add(consumer);
      return {
        async drain() {
          consumers.delete(consumer);
          await consumer.drain();
        },
      };
    },
  });
}

/** The settings that every message has itself, whatever the settings of its queue are. */
function settingsOf(retryDelaySeconds: number): PgBossJobSettings {
  return {
    retryLimit: 2 ** 31 - 1,
    retryDelay: retryDelaySeconds,
    retryBackoff: true,
    retryDelayMax: Math.max(60, retryDelaySeconds),
    // the longest time that pg-boss allows, because the heartbeat decides when a message is lost
    expireInSeconds: daySeconds,
    retentionSeconds: 365 * daySeconds,
  };
}

async function makeQueue(boss: PgBossClient, name: string, settings: PgBossJobSettings): Promise<void> {
  const found = await boss.getQueue(name);
  // "short": one waiting message for each key; messages in flight do not count. A consumer may ask for a longer heartbeat
  if (!found) return boss.createQueue(name, { ...settings, policy: "short", heartbeatSeconds: minHeartbeatSeconds });
  // other policies refuse a message while one with the same key is in flight
  if (found.policy !== undefined && found.policy !== "short" && found.policy !== "standard") {
    throw new StepfoldError("QUEUE_REJECTED", {
      queue: "pg-boss",
      reason: `the queue "${name}" has the policy "${found.policy}", not "short"`,
    });
  }
}

/**
 * Sets the heartbeat of the queue to the lease. A message keeps the heartbeat that the queue had when the message was sent; consumers send
 * heartbeats often enough for any value.
 */
async function setLease(boss: PgBossClient, name: string, leaseMs: number): Promise<void> {
  const heartbeatSeconds = Math.max(minHeartbeatSeconds, Math.ceil(leaseMs / 1000));
  const found = await boss.getQueue(name);
  if (found?.heartbeatSeconds !== heartbeatSeconds) await boss.updateQueue(name, { heartbeatSeconds });
}

function jobOf({ workflowId, delayMs, dedupeKey }: CheckedWakeUp, settings: PgBossJobSettings): PgBossInsert {
  const isShared = delayMs === 0 && dedupeKey !== undefined && dedupeKey.length <= maxKeyLength;
  return {
    ...settings,
    data: { workflowId },
    startAfter: delayMs / 1000,
    // without its own key, the message would count as the same message as all others
    singletonKey: isShared ? `key:${dedupeKey}` : `own:${systemEnvironment.newId()}`,
  };
}
