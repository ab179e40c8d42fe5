import { invalidUrl, parsedUrl, takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { BullmqQueueClient, BullmqWorker, BullmqWorkerOptions } from "../bullmq/bullmq-client.ts";
import { connected, connectMs } from "./connected.ts";
import type { QueueAndClient } from "./queue-and-client.ts";

/** The options of BullMQ that say where the queue is. */
type Place =
  | { readonly connection: { readonly url: string; readonly maxRetriesPerRequest: null }; readonly prefix: string }
  | {
      readonly connection: {
        readonly connectionString: string;
        readonly connectionTimeoutMillis: number;
        readonly schema: string;
        readonly migrate: true;
      };
    };

/** What connects BullMQ to PostgreSQL. Without it, BullMQ connects to Redis. */
type Backend = object;

interface Client {
  readonly Queue: new (
    name: string,
    options: Place,
    backend?: Backend,
  ) => BullmqQueueClient & {
    on(event: "error", listener: (error: unknown) => void): unknown;
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  };
  readonly Worker: new (name: string, process: object, options: Place & BullmqWorkerOptions, backend?: Backend) => BullmqWorker;
  /** Absent before BullMQ 6. */
  readonly createPostgresBackend?: Backend;
}

/**
 * Opens `bullmq:redis://host:6379/0?queue=stepfold&prefix=bull`, or
 * `bullmq:postgres://user:password@host/database?queue=stepfold&schema=bullmq`, whose tables it creates, with the package `bullmq`.
 */
export async function openBullmq(text: string): Promise<QueueAndClient> {
  const { url, taken } = takeParameters(text.slice("bullmq:".length), { queue: "stepfold", prefix: "bull", schema: "bullmq" });
  const { protocol } = parsedUrl(url, "queue");
  const isPostgres = /^postgres(ql)?:$/.test(protocol);
  if (!isPostgres && !/^rediss?:$/.test(protocol))
    throw invalidUrl("must hold the URL of a server of BullMQ: bullmq:redis://… or bullmq:postgres://…", "queue");
  const { bullmqQueue } = await import("../bullmq/bullmq-queue.ts");
  const { Queue, Worker, createPostgresBackend } = await importDriver<Client>("bullmq", { queue: "bullmq" });
  if (isPostgres && !createPostgresBackend) throw invalidUrl("needs BullMQ 6, because older versions know Redis only", "queue");
  const backend = isPostgres ? createPostgresBackend : undefined;
  const place: Place = isPostgres
    ? { connection: { connectionString: url, connectionTimeoutMillis: connectMs, schema: taken.schema, migrate: true } }
    : { connection: { url, maxRetriesPerRequest: null }, prefix: taken.prefix };
  const jobs = new Queue(taken.queue, place, backend);
  try {
    await connected("bullmq", jobs, jobs.waitUntilReady());
  } catch (error) {
    // not awaited: it would wait for a server that does not answer
    jobs.close().catch(() => undefined);
    throw error;
  }
  return {
    queue: bullmqQueue(jobs, (process, options) => new Worker(taken.queue, process, { ...place, ...options }, backend), {
      durable: isPostgres,
    }),
    closeClient: () => jobs.close(),
  };
}
