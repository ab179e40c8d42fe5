import { refuseUnknown } from "../../core/values/refuse-unknown.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { checkedQueue } from "../checked/checked-queue.ts";
import { delayRoute, delayTopology, mainQueue, maxDelayMs, type RabbitmqQueueType } from "./delay-topology.ts";
import type { RabbitmqConnection, RabbitmqPublisher, RabbitmqTopology } from "./rabbitmq-client.ts";
import { rabbitmqConsumer } from "./rabbitmq-consumer.ts";
import { isRefusedByRabbitmq } from "./rabbitmq-error.ts";

/** How a RabbitMQ queue behaves. */
export interface RabbitmqQueueOptions {
  /** Name of the queue in RabbitMQ; what delays messages is called `NAME.delay.0` to `NAME.delay.25`. All are declared. Default `stepfold`. */
  readonly name?: string;
  /** `quorum`: the queues are replicated over a cluster. Cannot be changed once they exist. Default `classic`. */
  readonly queueType?: RabbitmqQueueType;
  /** How long a message waits after its handler failed, in milliseconds. Default 5,000. */
  readonly retryDelayMs?: number;
}

/** RabbitMQ closes the channel of whoever keeps a message for longer than its `consumer_timeout`, by default 30 minutes. */
const maxHoldMs = 10 * 60 * 1000;

/**
 * A queue in RabbitMQ 3.10 or later. You hand in a `Connection` of rabbitmq-client, and close it yourself after `close()`.
 * Delays need no plugin: RabbitMQ keeps messages in queues with a time to live.
 *
 * ```ts
 * import { Connection } from "rabbitmq-client";
 * import { rabbitmqQueue } from "stepfold/queues/rabbitmq";
 *
 * const connection = new Connection("amqp://127.0.0.1:5672");
 * connection.on("error", console.error);
 * const queue = rabbitmqQueue(connection);
 * await queue.send([{ workflowId: "order-1", delayMs: 60_000 }]);
 * await queue.close();
 * await connection.close();
 * ```
 *
 * A message is sent when RabbitMQ has confirmed it. While the connection is lost, `send` waits until it is there again, as
 * long as `acquireTimeout` of the connection says; then it is `QUEUE_UNAVAILABLE`. Every wake-up is a message of its own.
 * What a consumer had when it died comes to another as soon as RabbitMQ notices: at once where the connection ends, after
 * its heartbeats where the machine is gone.
 *
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function rabbitmqQueue(connection: RabbitmqConnection, options: RabbitmqQueueOptions = {}): WorkQueue {
  refuseUnknown("rabbitmqQueue", options, ["name", "queueType", "retryDelayMs"]);
  const { name = "stepfold", queueType = "classic", retryDelayMs = 5000 } = options;
  const main = mainQueue(name, queueType);
  const now = lazyPublisher(connection, () => ({ queues: [main] }));
  // declared with the first delayed message only
  const later = lazyPublisher(connection, () => delayTopology(name, queueType));
  const sendOne = (workflowId: string, delayMs: number): Promise<void> =>
    delayMs > 0
      ? later.get().send({ ...delayRoute(name, delayMs), durable: true }, { workflowId })
      : now.get().send({ exchange: "", routingKey: name, durable: true }, { workflowId });

  return checkedQueue({
    name: "rabbitmq",
    features: { durable: true, multiProcess: true, maxDelayMs },
    refuses: isRefusedByRabbitmq,
    async send(wakeUps) {
      await Promise.all(wakeUps.map(({ workflowId, delayMs }) => sendOne(workflowId, delayMs)));
    },
    consume: (handle, consuming) => rabbitmqConsumer({ connection, main, handle, consuming, retryDelayMs, maxHoldMs, sendOne }),
    async close() {
      await Promise.all([now.close(), later.close()]);
    },
  });
}

/** A publisher that is made when it is needed: each has a channel of its own. */
function lazyPublisher(
  connection: RabbitmqConnection,
  topology: () => RabbitmqTopology,
): { get(): RabbitmqPublisher; close(): Promise<void> } {
  let publisher: RabbitmqPublisher | null = null;
  return {
    get() {
      publisher ??= connection.createPublisher({ ...topology(), confirm: true });
      return publisher;
    },
    async close() {
      await publisher?.close();
    },
  };
}
