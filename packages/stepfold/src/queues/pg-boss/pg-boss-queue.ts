import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { systemEnvironment } from "../../environment/system-environment.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { type CheckedWakeUp, checkedQueue } from "../checked/checked-queue.ts";
import { type BossConsumer, bossConsumer } from "./boss-consumer.ts";
import type { PgBossClient, PgBossInsert, PgBossJobSettings } from "./pg-boss-client.ts";

/** How a pg-boss queue behaves. */
export interface PgBossQueueOptions {
  /** Name of the queue in pg-boss. It is made if it is not there. Default `stepfold`. */
  readonly name?: string;
  /** How often a consumer with free places looks for messages, in milliseconds. Default 1,000. */
  readonly pollMs?: number;
  /** How long a message waits after its handler failed the first time, in whole seconds; then twice as long, up to a minute. Default 1. */
  readonly retryDelaySeconds?: number;
  /**
   * Say so if your store is `postgresStore` on the same database, and its user may write pg-boss's tables: then a wake-up is
   * sent in the transaction that makes it necessary. Default false.
   */
  readonly sharesStoreDatabase?: boolean;
}

/** pg-boss knows nothing shorter. */
const shortestHeartbeatSeconds = 10;
const day = 24 * 60 * 60;
/** Ten years: times end somewhere in PostgreSQL, too. */
const longestDelayMs = 3650 * day * 1000;
/** Jobs in one statement. */
const mostAtOnce = 1000;
/** A key is part of an index, whose entries have a limit. */
const longestKey = 500;

/**
 * A queue in pg-boss 12. You hand in a `PgBoss` that was started, and stop it yourself; one of the processes that share
 * the queue must supervise (pg-boss does by default): that is what gives messages of dead consumers to others.
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
 */
export function pgBossQueue(boss: PgBossClient, options: PgBossQueueOptions = {}): WorkQueue {
  const { name = "stepfold", pollMs = 1000, retryDelaySeconds = 1, sharesStoreDatabase = false } = options;
  const consumers = new Set<BossConsumer>();
  const settings = settingsOf(retryDelaySeconds);
  let ready: Promise<void> | null = null;

  const prepare = (): Promise<void> => {
    // what failed is tried again by the next call
    ready ??= makeQueue(boss, name, settings).catch((cause: unknown) => {
      ready = null;
      throw cause;
    });
    return ready;
  };
  const insert = async (wakeUps: readonly CheckedWakeUp[], db?: Parameters<PgBossClient["insert"]>[2]): Promise<void> => {
    await prepare();
    for (let from = 0; from < wakeUps.length; from += mostAtOnce) {
      const some = wakeUps.slice(from, from + mostAtOnce).map((wakeUp) => jobOf(wakeUp, settings));
      await boss.insert(name, some, db);
    }
  };

  return checkedQueue({
    name: "pg-boss",
    features: { durable: true, multiProcess: true, maxDelayMs: longestDelayMs, ...(sharesStoreDatabase && { joins: "postgres" }) },
    async send(wakeUps) {
      await insert(wakeUps);
      // those in this process need not wait until they look
      if (wakeUps.some(({ delayMs }) => delayMs === 0)) for (const consumer of consumers) consumer.look();
    },
    ...(sharesStoreDatabase && {
      sendIn: (query, wakeUps) =>
        insert(
          // one that was there before could be delivered before the commit
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

/** Every message has them itself, whatever the queue says that it is put into. */
function settingsOf(retryDelaySeconds: number): PgBossJobSettings {
  return {
    retryLimit: 2 ** 31 - 1,
    retryDelay: retryDelaySeconds,
    retryBackoff: true,
    retryDelayMax: Math.max(60, retryDelaySeconds),
    // the longest that pg-boss knows: what counts is the heartbeat
    expireInSeconds: day,
    retentionSeconds: 365 * day,
  };
}

async function makeQueue(boss: PgBossClient, name: string, settings: PgBossJobSettings): Promise<void> {
  const found = await boss.getQueue(name);
  // of those that wait, one for each key; those under way do not count. The lease: until a consumer asks for a longer one
  if (!found) return boss.createQueue(name, { ...settings, policy: "short", heartbeatSeconds: shortestHeartbeatSeconds });
  // others would refuse a message while one with the same key is under way
  if (found.policy !== undefined && found.policy !== "short" && found.policy !== "standard") {
    throw new StepfoldError("QUEUE_REJECTED", {
      queue: "pg-boss",
      reason: `the queue "${name}" has the policy "${found.policy}", not "short"`,
    });
  }
}

/** A message has the lease that the queue had when it was sent; consumers show signs of life often enough for any. */
async function setLease(boss: PgBossClient, name: string, leaseMs: number): Promise<void> {
  const heartbeatSeconds = Math.max(shortestHeartbeatSeconds, Math.ceil(leaseMs / 1000));
  const found = await boss.getQueue(name);
  if (found?.heartbeatSeconds !== heartbeatSeconds) await boss.updateQueue(name, { heartbeatSeconds });
}

function jobOf({ workflowId, delayMs, dedupeKey }: CheckedWakeUp, settings: PgBossJobSettings): PgBossInsert {
  const isShared = delayMs === 0 && dedupeKey !== undefined && dedupeKey.length <= longestKey;
  return {
    ...settings,
    data: { workflowId },
    startAfter: delayMs / 1000,
    // without a key all would be one
    singletonKey: isShared ? `key:${dedupeKey}` : `own:${systemEnvironment.newId()}`,
  };
}
