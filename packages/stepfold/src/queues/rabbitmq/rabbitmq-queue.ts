import { aDelay, aText, checkOptions, oneOf, requireMethods } from "../../core/values/check-arguments.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { checkedQueue } from "../checked/checked-queue.ts";
import { delayRoute, delayTopology, mainQueue, maxDelayMs, type RabbitmqQueueType } from "./delay-topology.ts";
import type { RabbitmqConnection, RabbitmqPublisher, RabbitmqTopology } from "./rabbitmq-client.ts";
import { rabbitmqConsumer } from "./rabbitmq-consumer.ts";
import { isRefusedByRabbitmq } from "./rabbitmq-error.ts";

/** How a RabbitMQ queue behaves. */
export interface RabbitmqQueueOptions {
  /**
   * Name of the queue in RabbitMQ. The exchanges and queues that delay messages are called `NAME.delay.0` to `NAME.delay.25`. They are
   * declared with the first delayed message. Default `stepfold`.
   */
  readonly name?: string | undefined;
  /** `quorum`: the queues are replicated over a cluster. Cannot be changed once they exist. Default `classic`. */
  readonly queueType?: RabbitmqQueueType | undefined;
  /** How long a message waits after its handler failed, in milliseconds. Default 5,000. */
  readonly retryDelayMs?: number | undefined;
}

/**
 * How long a consumer holds a message before a new message takes its place. RabbitMQ closes the channel of a consumer that holds one for
 * longer than its `consumer_timeout`, by default 30 minutes.
 */
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
 * `send` resolves when RabbitMQ has confirmed all messages. While the connection is lost, `send` waits for it as
 * long as `acquireTimeout` of the connection says, and then rejects with `QUEUE_UNAVAILABLE`. Every wake-up is a message of its own.
 * If a consumer dies, others get its messages as soon as RabbitMQ notices: at once if the connection ends, or after
 * missing heartbeats if the machine is gone.
 *
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function rabbitmqQueue(connection: RabbitmqConnection, options: RabbitmqQueueOptions = {}): WorkQueue {
  requireMethods("connection", connection, "a Connection of rabbitmq-client", ["createPublisher", "acquire"]);
  checkOptions("rabbitmqQueue", options, { name: aText, queueType: oneOf("classic", "quorum"), retryDelayMs: aDelay });
  const { name = "stepfold", queueType = "classic", retryDelayMs = 5000 } = options;
  const main = mainQueue(name, queueType);
  const now = lazyPublisher(connection, () => ({ queues: [main] }));
  // the topology is declared only with the first delayed message
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

/** A publisher that is created when it is needed, because each one has its own channel. */
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
