import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { withoutSecrets } from "../../urls/public-url.ts";
import { unknownScheme, writtenUrl } from "../../urls/written-url.ts";
import { queueError } from "../checked/queue-error.ts";
import type { QueueAndClient } from "./queue-and-client.ts";

type Open = (url: string) => Promise<QueueAndClient>;

/** The functions that open a queue, by the scheme of its URL. Each file is loaded when it is needed. */
const schemes: Readonly<Record<string, () => Promise<Open>>> = {
  amqp: async () => (await import("./open-rabbitmq.ts")).openRabbitmq,
  amqps: async () => (await import("./open-rabbitmq.ts")).openRabbitmq,
  nats: async () => (await import("./open-nats.ts")).openNats,
  tls: async () => (await import("./open-nats.ts")).openNats,
  sqs: async () => (await import("./open-sqs.ts")).openSqs,
  bullmq: async () => (await import("./open-bullmq.ts")).openBullmq,
  "pg-boss": async () => (await import("./open-pg-boss.ts")).openPgBoss,
};

/**
 * Opens the queue that a URL names, with its own client, which `close()` closes too. It is meant for commands and servers; a program
 * that has a client already passes it to the function of its queue, such as `natsQueue`.
 *
 * | URL | package it needs |
 * | --- | --- |
 * | `amqp://user:password@host/vhost?queue=stepfold&type=quorum`, `amqps://…` | `rabbitmq-client` |
 * | `nats://user:password@host:4222?queue=stepfold&replicas=3`, `tls://…` | `@nats-io/transport-node`, `@nats-io/jetstream` |
 * | `sqs:https://sqs.eu-central-1.amazonaws.com/123456789012/stepfold?endpoint=http://127.0.0.1:4566` | `@aws-sdk/client-sqs` |
 * | `bullmq:redis://host:6379/0?queue=stepfold&prefix=bull` | `bullmq` |
 * | `bullmq:postgres://user:password@host/database?queue=stepfold&schema=bullmq` | `bullmq`, `pg` |
 * | `pg-boss:postgres://user:password@host/database?queue=stepfold&schema=pgboss` | `pg-boss` |
 *
 * ```ts
 * import { queueFromUrl } from "stepfold/queues/from-url";
 *
 * const queue = await queueFromUrl("amqp://guest:guest@127.0.0.1:5672");
 * await queue.send([{ workflowId: "order-1" }]);
 * await queue.close();
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID` for a URL that names no queue, `DRIVER_MISSING` if its package is not installed,
 * `QUEUE_UNAVAILABLE`, `QUEUE_REJECTED`
 */
export async function queueFromUrl(text: string): Promise<WorkQueue> {
  const written = writtenUrl(text, "queue");
  const { url, scheme } = written;
  const open = scheme !== null && Object.hasOwn(schemes, scheme) ? schemes[scheme] : undefined;
  if (scheme === null || !open) throw unknownScheme(written, Object.keys(schemes), "queue");
  const { queue, closeClient } = await opened(scheme, await open(), url);
  let closing: Promise<void> | null = null;
  return {
    ...queue,
    close() {
      closing ??= queue.close().then(async () => void (await closeClient()));
      return closing;
    },
  };
}

async function opened(scheme: string, open: Open, url: string): Promise<QueueAndClient> {
  try {
    return await open(url);
  } catch (error) {
    const failure = queueError(scheme, error);
    const { code } = failure;
    if (code !== "QUEUE_UNAVAILABLE" && code !== "QUEUE_REJECTED") throw failure;
    // the client's message may quote the URL
    const reason = withoutSecrets((failure.details as { reason: string }).reason, url);
    throw new StepfoldError(code, { queue: scheme, reason });
  }
}
