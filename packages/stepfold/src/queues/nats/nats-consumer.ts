import { systemEnvironment } from "../../environment/system-environment.ts";
import { namedDelay } from "../../ports/named-delay.ts";
import type { ConsumeOptions, Consumer, Delivery } from "../../ports/work-queue.ts";
import { foreignMessage, workflowIdOf } from "../checked/wake-up-message.ts";
import type { NatsConsumer, NatsMessage, NatsMessages } from "./nats-client.ts";

/** How long one request for messages is valid, in milliseconds. After a lost connection, messages come only with the next request. */
const fetchMs = 5_000;
/** The first pause after a failure; each further failure doubles it, up to `maxReopenMs`. */
const firstReopenMs = 100;
const maxReopenMs = 10_000;

interface Setting extends ConsumeOptions {
  readonly retryDelayMs: number;
}

/** Begins to consume; rejects if it cannot. */
export async function natsConsumer(
  open: () => Promise<NatsConsumer>,
  handle: (delivery: Delivery) => Promise<void>,
  setting: Setting,
): Promise<Consumer> {
  return new PullConsumer(await open(), open, handle, setting);
}

/**
 * Asks for as many messages as there is room for. The next request follows when these have come, or when the time of the request is over.
 */
class PullConsumer implements Consumer {
  readonly #open: () => Promise<NatsConsumer>;
  readonly #handle: (delivery: Delivery) => Promise<void>;
  readonly #setting: Setting;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #working: Promise<void>;
  #consumer: NatsConsumer | null;
  #messages: NatsMessages | null = null;
  #isDraining = false;
  #endPause: () => void = () => undefined;

  constructor(consumer: NatsConsumer, open: () => Promise<NatsConsumer>, handle: (delivery: Delivery) => Promise<void>, setting: Setting) {
    this.#consumer = consumer;
    this.#open = open;
    this.#handle = handle;
    this.#setting = setting;
    this.#working = this.#work();
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#endPause();
    await this.#messages?.close();
    await this.#working;
    await Promise.all(this.#inFlight);
  }

  async #work(): Promise<void> {
    for (let failures = 0; !this.#isDraining; ) {
      const free = this.#setting.concurrency - this.#inFlight.size;
      if (free === 0) {
        await Promise.race(this.#inFlight);
        continue;
      }
      try {
        // after a failure, the consumer on the server may be gone too
        this.#consumer ??= await this.#open();
        await this.#fetch(this.#consumer, free);
        failures = 0;
      } catch (error) {
        this.#setting.onProblem(error);
        this.#consumer = null;
        await this.#pause(Math.min(firstReopenMs * 2 ** failures++, maxReopenMs));
      }
    }
  }

  async #fetch(consumer: NatsConsumer, count: number): Promise<void> {
    const messages = await consumer.fetch({ max_messages: count, expires: fetchMs });
    this.#messages = messages;
    if (this.#isDraining) await messages.close();
    for await (const message of messages) {
      if (this.#isDraining) message.nak();
      else this.#receive(message);
    }
  }

  #receive(message: NatsMessage): void {
    const { body, remainingMs } = readMessage(message);
    const workflowId = workflowIdOf(body);
    if (workflowId === null) {
      message.ack();
      this.#setting.onProblem(foreignMessage("nats"));
    } else if (remainingMs > 0) message.nak(remainingMs);
    else {
      const handled = this.#handleOne(message, workflowId).finally(() => this.#inFlight.delete(handled));
      this.#inFlight.add(handled);
    }
  }

  async #handleOne(message: NatsMessage, workflowId: string): Promise<void> {
    const { onProblem, retryDelayMs } = this.#setting;
    try {
      await this.#handle({ workflowId, extend: async () => message.working() });
      message.ack();
    } catch (error) {
      onProblem(error);
      message.nak(retryDelayMs);
    }
  }

  async #pause(durationMs: number): Promise<void> {
    if (this.#isDraining) return;
    await new Promise<void>((resolve) => {
      const cancel = systemEnvironment.after(durationMs, resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
  }
}

/** Returns the content of a message, and how long it still has to wait, counted from the time at which the server stored it. */
function readMessage({ data, time }: NatsMessage): { readonly body: unknown; readonly remainingMs: number } {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch {
    return { body: null, remainingMs: 0 };
  }
  const { delayMs } = (body ?? {}) as { readonly delayMs?: unknown };
  const delay = namedDelay(delayMs);
  // if the clocks differ, the message still waits no longer than its whole delay
  return { body, remainingMs: Math.min(delay, time.getTime() + delay - systemEnvironment.now()) };
}
