import { aCount, aDelay, aText, checkOptions, requireMethods } from "../../core/values/check-arguments.ts";
import { maxNamedDelayMs } from "../../ports/named-delay.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { checkedQueue } from "../checked/checked-queue.ts";
import type { NatsConsumer, NatsConsumerSettings, NatsJetStream } from "./nats-client.ts";
import { natsConsumer } from "./nats-consumer.ts";
import { isMissing, isRefusedByNats } from "./nats-error.ts";

/** How a NATS queue behaves. */
export interface NatsQueueOptions {
  /**
   * Name of the stream, of its one subject, and of the consumer that all workers share. They are created if they do not exist. Default
   * `stepfold`.
   */
  readonly name?: string | undefined;
  /** How many servers hold the stream, if it is created here: 1, 3 or 5. Default 1. */
  readonly replicas?: number | undefined;
  /** How long a message waits after its handler failed, in milliseconds. Default 5,000. */
  readonly retryDelayMs?: number | undefined;
}

/** The most messages that wait for their acknowledgement at the same time. */
const maxUnconfirmed = 500;

/**
 * A queue in NATS JetStream, 2.9 or later. You hand in a `JetStreamManager`, whose connection you close yourself after `close()`.
 *
 * ```ts
 * import { jetstreamManager } from "@nats-io/jetstream";
 * import { connect } from "@nats-io/transport-node";
 * import { natsQueue } from "stepfold/queues/nats";
 *
 * const connection = await connect({ servers: "nats://127.0.0.1:4222" });
 * const queue = natsQueue(await jetstreamManager(connection));
 * await queue.send([{ workflowId: "order-1", delayMs: 60_000 }]);
 * await queue.close();
 * await connection.close();
 * ```
 *
 * A message with a delay is given to a consumer at once. The consumer gives it back, and the server delivers it again when it is due, at most
 * 12 hours later; the sweep of the store finds executions that are due later. Every wake-up is a message of its own.
 *
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function natsQueue(manager: NatsJetStream, options: NatsQueueOptions = {}): WorkQueue {
  requireMethods("manager", manager, "a manager of @nats-io/jetstream: await jetstreamManager(connection)", ["jetstream"]);
  checkOptions("natsQueue", options, { name: aText, replicas: aCount, retryDelayMs: aDelay });
  const { name = "stepfold", replicas = 1, retryDelayMs = 5000 } = options;
  let ready: Promise<void> | null = null;
  const prepare = (): Promise<void> => {
    // after a failure the next call tries again
    ready ??= makeStream(manager, name, replicas).catch((cause: unknown) => {
      ready = null;
      throw cause;
    });
    return ready;
  };
  const publish = async (workflowId: string, delayMs: number): Promise<void> => {
    try {
      await manager.jetstream().publish(name, JSON.stringify(delayMs > 0 ? { workflowId, delayMs } : { workflowId }));
    } catch (cause) {
      // the stream may have been deleted, so the next call looks for it again
      ready = null;
      throw cause;
    }
  };

  return checkedQueue({
    name: "nats",
    features: { durable: true, multiProcess: true, maxDelayMs: maxNamedDelayMs },
    refuses: isRefusedByNats,
    async send(wakeUps) {
      await prepare();
      for (let from = 0; from < wakeUps.length; from += maxUnconfirmed) {
        await Promise.all(wakeUps.slice(from, from + maxUnconfirmed).map(({ workflowId, delayMs }) => publish(workflowId, delayMs)));
      }
    },
    consume(handle, consuming) {
      const open = async (): Promise<NatsConsumer> => {
        ready = null;
        await prepare();
        await makeConsumer(manager, name, consuming.leaseMs);
        return manager.jetstream().consumers.get(name, name);
      };
      return natsConsumer(open, handle, { ...consuming, retryDelayMs });
    },
  });
}

async function makeStream({ streams }: NatsJetStream, name: string, replicas: number): Promise<void> {
  try {
    await streams.info(name);
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    // two processes that create the stream at the same time create the same one
    await streams.add({ name, subjects: [name], retention: "workqueue", storage: "file", num_replicas: replicas });
  }
}

/** Creates the consumer, or changes its lease. All workers share one consumer, so the lease of the worker that came last applies to all. */
async function makeConsumer({ consumers }: NatsJetStream, name: string, leaseMs: number): Promise<void> {
  const ackWait = leaseMs * 1_000_000;
  const settings: NatsConsumerSettings = {
    durable_name: name,
    ack_policy: "explicit",
    ack_wait: ackWait,
    max_deliver: -1,
    // messages that wait for their time count as not acknowledged
    max_ack_pending: -1,
  };
  try {
    const { config } = await consumers.info(name, name);
    if (config.ack_wait !== ackWait) await consumers.update(name, name, { ack_wait: ackWait });
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    await consumers.add(name, settings);
  }
}
