import { systemEnvironment } from "../../environment/system-environment.ts";
import type { ConsumeOptions, Consumer, Delivery } from "../../ports/work-queue.ts";
import { foreignMessage, workflowIdOf } from "../checked/wake-up-message.ts";
import type { RabbitmqChannel, RabbitmqConnection, RabbitmqMessage, RabbitmqQueueSettings } from "./rabbitmq-client.ts";

const firstReopenMs = 100;
const maxReopenMs = 10_000;

/** What a consumer works with. */
interface ConsumerSetting {
  readonly connection: RabbitmqConnection;
  readonly main: RabbitmqQueueSettings;
  readonly handle: (delivery: Delivery) => Promise<void>;
  readonly consuming: ConsumeOptions;
  readonly retryDelayMs: number;
  /** How long a message is kept by one that is handled; then it is acknowledged, and one that comes as much later takes over. */
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
 * Consumes on a channel of its own, and opens a new one when the channel was closed, also while handlers of the old one still
 * work. What these have in hand RabbitMQ gives to others then; they cannot acknowledge it any more.
 */
class ChannelConsumer implements Consumer {
  readonly #setting: ConsumerSetting;
  readonly #inFlight = new Set<Promise<void>>();
  /** Those that a new channel brought while handlers of the old one have all the room. */
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
    // a channel that is lost by now has given everything back
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
      // given back it would come again at once, and again
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
