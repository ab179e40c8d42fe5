import { systemEnvironment } from "../../environment/system-environment.ts";
import type { ConsumeOptions, Consumer, Delivery } from "../../ports/work-queue.ts";
import { foreignMessage, workflowIdOf } from "../checked/wake-up-message.ts";
import type { RabbitmqChannel, RabbitmqConnection, RabbitmqMessage, RabbitmqQueueSettings } from "./rabbitmq-client.ts";

/** The first pause before a closed channel is opened again; each failure doubles it, up to `maxReopenMs`. */
const firstReopenMs = 100;
const maxReopenMs = 10_000;

/** Everything that a consumer needs. */
interface ConsumerSetting {
  readonly connection: RabbitmqConnection;
  /** The queue that messages are taken from. */
  readonly main: RabbitmqQueueSettings;
  readonly handle: (delivery: Delivery) => Promise<void>;
  readonly consuming: ConsumeOptions;
  readonly retryDelayMs: number;
  /**
   * How long a message is held while its handler runs, in milliseconds. At the first `extend` after that, a new message with this delay is
   * sent to take its place, and the message is acknowledged.
   */
  readonly maxHoldMs: number;
  sendOne(workflowId: string, delayMs: number): Promise<void>;
}

/** A message and the channel on which it is acknowledged: after a lost connection there is another channel. */
interface Received {
  readonly channel: RabbitmqChannel;
  readonly message: RabbitmqMessage;
}

/** Begins to consume; rejects if it cannot. */
export async function rabbitmqConsumer(setting: ConsumerSetting): Promise<Consumer> {
  const consumer = new ChannelConsumer(setting);
  await consumer.open();
  return consumer;
}

/**
 * Consumes on its own channel, and opens a new channel when that was closed, also while handlers of the old channel still run. RabbitMQ
 * gives the messages of these handlers to other consumers; the handlers can no longer acknowledge them.
 */
class ChannelConsumer implements Consumer {
  readonly #setting: ConsumerSetting;
  readonly #inFlight = new Set<Promise<void>>();
  /** Messages that a new channel has brought while handlers of the old channel still take all the room. */
  #received: Received[] = [];
  #current: { readonly channel: RabbitmqChannel; readonly consumerTag: string } | null = null;
  #reopening: Promise<void> | null = null;
  #cancelReopen: () => void = () => undefined;
  #isDraining = false;

  constructor(setting: ConsumerSetting) {
    this.#setting = setting;
  }

  async open(): Promise<void> {
    const { connection, main, consuming } = this.#setting;
    const channel = await connection.acquire({ emitErrorsFromChannel: true });
    channel.on("error", consuming.onProblem);
    // the server cancels a consumer whose queue was deleted
    channel.on("basic.cancel", () => void channel.close().catch(consuming.onProblem));
    try {
      await channel.queueDeclare(main);
      await channel.basicQos({ prefetchCount: consuming.concurrency });
      const { consumerTag } = await channel.basicConsume({ queue: main.queue }, (message) => this.#receive({ channel, message }));
      this.#current = { channel, consumerTag };
    } catch (error) {
      await channel.close().catch(() => undefined);
      throw error;
    }
    if (channel.active) channel.on("close", () => this.#reopenIn(firstReopenMs));
    else this.#reopenIn(firstReopenMs);
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#cancelReopen();
    await this.#reopening;
    const last = this.#current;
    // a lost channel has given all its messages back
    await last?.channel.basicCancel({ consumerTag: last.consumerTag }).catch(() => undefined);
    for (const one of this.#received.splice(0)) giveBack(one);
    await Promise.all(this.#inFlight);
    await last?.channel.close().catch(() => undefined);
  }

  #reopenIn(delayMs: number): void {
    this.#current = null;
    this.#received = this.#received.filter(({ channel }) => channel.active);
    if (this.#isDraining) return;
    this.#cancelReopen = systemEnvironment.after(delayMs, () => {
      this.#reopening = this.open().catch((error: unknown) => {
        this.#setting.consuming.onProblem(error);
        this.#reopenIn(Math.min(delayMs * 2, maxReopenMs));
      });
    });
  }

  #receive(one: Received): void {
    if (this.#isDraining) giveBack(one);
    else this.#received.push(one);
    this.#startNext();
  }

  #startNext(): void {
    while (this.#inFlight.size < this.#setting.consuming.concurrency && this.#received.length > 0) {
      const next = this.#received.shift()!;
      if (!next.channel.active) continue;
      const handled = handleOne(this.#setting, next).finally(() => {
        this.#inFlight.delete(handled);
        this.#startNext();
      });
      this.#inFlight.add(handled);
    }
  }
}

async function handleOne(setting: ConsumerSetting, { channel, message }: Received): Promise<void> {
  const { handle, retryDelayMs, maxHoldMs, sendOne } = setting;
  const { onProblem } = setting.consuming;
  const { deliveryTag } = message;
  let heldFromMs = systemEnvironment.monotonicMs();
  let isHeld = true;
  const acknowledge = (): void => {
    if (isHeld && channel.active) channel.basicAck({ deliveryTag });
    isHeld = false;
  };
  const workflowId = workflowIdOf(message.body);
  if (workflowId === null) {
    acknowledge();
    return onProblem(foreignMessage("rabbitmq"));
  }
  const extend = async (): Promise<void> => {
    if (systemEnvironment.monotonicMs() - heldFromMs < maxHoldMs) return;
    heldFromMs = systemEnvironment.monotonicMs();
    await sendOne(workflowId, maxHoldMs);
    acknowledge();
  };
  try {
    await handle({ workflowId, extend }).catch(async (error: unknown) => {
      onProblem(error);
      // a message that is given back would be delivered again at once, without any delay
      await sendOne(workflowId, retryDelayMs);
    });
    acknowledge();
  } catch (error) {
    onProblem(error);
    if (isHeld && channel.active) channel.basicNack({ deliveryTag, requeue: true });
  }
}

function giveBack({ channel, message }: Received): void {
  if (channel.active) channel.basicNack({ deliveryTag: message.deliveryTag, requeue: true });
}
