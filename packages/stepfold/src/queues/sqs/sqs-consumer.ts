import { systemEnvironment } from "../../environment/system-environment.ts";
import type { ConsumeOptions, Consumer, Delivery } from "../../ports/work-queue.ts";
import type { CheckedWakeUp } from "../checked/checked-queue.ts";
import { foreignMessage } from "../checked/wake-up-message.ts";
import type { SqsClient, SqsMessage } from "./sqs-client.ts";
import { unlessNoLongerHeld } from "./sqs-error.ts";
import { readSqsMessage } from "./sqs-message.ts";

/** The most messages that SQS gives in one answer. */
const maxReceived = 10;
/** The first pause after a failed request; each further failure doubles it, up to `maxRetryMs`. */
const firstRetryMs = 200;
const maxRetryMs = 10_000;

interface Setting extends ConsumeOptions {
  readonly client: SqsClient;
  readonly queueUrl: string;
  readonly retryDelaySeconds: number;
  readonly waitSeconds: number;
  handle(delivery: Delivery): Promise<void>;
  send(wakeUps: readonly CheckedWakeUp[]): Promise<void>;
}

/** Begins to consume; rejects if it cannot, for example if the queue does not exist. */
export async function sqsConsumer(setting: Setting): Promise<Consumer> {
  const consumer = new PollingConsumer(setting);
  await consumer.begin();
  return consumer;
}

/** Asks for as many messages as there is room for, again and again. */
class PollingConsumer implements Consumer {
  readonly #setting: Setting;
  readonly #visibilitySeconds: number;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #draining = new AbortController();
  #working: Promise<void> = Promise.resolve();

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#visibilitySeconds = Math.ceil(setting.leaseMs / 1000);
  }

  async begin(): Promise<void> {
    await this.#receive(0);
    this.#working = this.#work();
  }

  async drain(): Promise<void> {
    this.#draining.abort();
    await this.#working;
    await Promise.all(this.#inFlight);
  }

  async #work(): Promise<void> {
    for (let failures = 0; !this.#draining.signal.aborted; ) {
      try {
        if (this.#inFlight.size < this.#setting.concurrency) await this.#receive(this.#setting.waitSeconds);
        else await Promise.race(this.#inFlight);
        failures = 0;
      } catch (error) {
        if (this.#draining.signal.aborted) return;
        this.#setting.onProblem(error);
        await this.#pause(Math.min(firstRetryMs * 2 ** failures++, maxRetryMs));
      }
    }
  }

  async #receive(waitSeconds: number): Promise<void> {
    const { client, queueUrl, concurrency } = this.#setting;
    const { Messages = [] } = await client.receiveMessage(
      {
        QueueUrl: queueUrl,
        MaxNumberOfMessages: Math.min(maxReceived, concurrency - this.#inFlight.size),
        WaitTimeSeconds: waitSeconds,
        VisibilityTimeout: this.#visibilitySeconds,
      },
      { abortSignal: this.#draining.signal },
    );
    for (const message of Messages) {
      const handled = this.#handleOne(message).finally(() => this.#inFlight.delete(handled));
      this.#inFlight.add(handled);
    }
  }

  async #handleOne({ Body, ReceiptHandle = "" }: SqsMessage): Promise<void> {
    const { client, queueUrl, handle, send, onProblem, retryDelaySeconds } = this.#setting;
    const setVisibility = async (VisibilityTimeout: number): Promise<void> => {
      await client.changeMessageVisibility({ QueueUrl: queueUrl, ReceiptHandle, VisibilityTimeout }).catch(unlessNoLongerHeld);
    };
    try {
      const wakeUp = readSqsMessage(Body);
      if (this.#draining.signal.aborted) return await setVisibility(0);
      const { workflowId = "", dueAt = 0 } = wakeUp ?? {};
      const remainingMs = dueAt - systemEnvironment.now();
      if (!wakeUp) onProblem(foreignMessage("sqs"));
      else if (remainingMs > 0) await send([{ workflowId, delayMs: remainingMs }]);
      else await handle({ workflowId, extend: () => setVisibility(this.#visibilitySeconds) });
    } catch (error) {
      onProblem(error);
      // if this fails too, SQS delivers the message again when its lease has ended
      return await setVisibility(retryDelaySeconds).catch(onProblem);
    }
    await client.deleteMessage({ QueueUrl: queueUrl, ReceiptHandle }).catch(onProblem);
  }

  async #pause(durationMs: number): Promise<void> {
    const { signal } = this.#draining;
    await new Promise<void>((resolve) => {
      const cancel = systemEnvironment.after(durationMs, resolve);
      signal.addEventListener(
        "abort",
        () => {
          cancel();
          resolve();
        },
        { once: true },
      );
    });
  }
}
