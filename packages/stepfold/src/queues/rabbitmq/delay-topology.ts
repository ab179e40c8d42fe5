import type { RabbitmqQueueSettings, RabbitmqTopology } from "./rabbitmq-client.ts";

/** How long the queue of level 0 keeps a message, in milliseconds; each level keeps it twice as long as the one below. */
const unitMs = 64;
/** The number of levels. With one more, the highest level would keep messages for 2^32 ms, and RabbitMQ only allows less than that. */
const levels = 26;

/** The longest delay that the levels make: 49 days. */
export const maxDelayMs: number = unitMs * (2 ** levels - 1);

type QueueArguments = RabbitmqQueueSettings["arguments"];

/** Where a message is sent, and under which routing key. */
export interface DelayRoute {
  readonly exchange: string;
  readonly routingKey: string;
}

/** How queues are made: `classic`, or `quorum` for a cluster. */
export type RabbitmqQueueType = "classic" | "quorum";

/** The queue that consumers take messages from. */
export function mainQueue(name: string, type: RabbitmqQueueType): RabbitmqQueueSettings {
  // a quorum queue of RabbitMQ 4 drops a message after 20 deliveries unless it is told otherwise
  const unlimited: QueueArguments = type === "quorum" ? { "x-delivery-limit": 2 ** 31 - 1 } : {};
  return { queue: name, durable: true, arguments: { "x-queue-type": type, ...unlimited } };
}

/**
 * Exchanges and queues by which RabbitMQ itself delays messages. A delay is written in binary, one word of the routing key for
 * each level. The exchange of a level sends a message whose digit is 1 into the queue of the level, which keeps it for
 * its time and then hands it to the exchange of the level below; a message whose digit is 0 goes there at once. Below level 0
 * is the main queue. All messages in one queue wait equally long, so none is held up by one before it.
 */
export function delayTopology(name: string, type: RabbitmqQueueType): Required<RabbitmqTopology> {
  const all = Array.from({ length: levels }, (_, level) => level);
  const digitAt = (level: number, digit: 0 | 1): string => [...Array<string>(levels - 1 - level).fill("*"), digit, "#"].join(".");
  // a message leaves its queue only once the next queue has it; a full queue refuses messages
  const safe: QueueArguments = type === "quorum" ? { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" } : {};
  return {
    queues: [
      mainQueue(name, type),
      ...all.map((level) => ({
        queue: levelName(name, level),
        durable: true as const,
        arguments: {
          "x-queue-type": type,
          "x-message-ttl": unitMs * 2 ** level,
          ...safe,
          // the exchange without a name sends to the queue that the routing key names
          ...(level === 0
            ? { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": name }
            : { "x-dead-letter-exchange": levelName(name, level - 1) }),
        },
      })),
    ],
    exchanges: all.map((level) => ({ exchange: levelName(name, level), type: "topic", durable: true })),
    queueBindings: [
      { exchange: levelName(name, 0), queue: name, routingKey: digitAt(0, 0) },
      ...all.map((level) => ({ exchange: levelName(name, level), queue: levelName(name, level), routingKey: digitAt(level, 1) })),
    ],
    exchangeBindings: all.slice(1).map((level) => ({
      source: levelName(name, level),
      destination: levelName(name, level - 1),
      routingKey: digitAt(level, 0),
    })),
  };
}

/**
 * Returns where a message with this delay, more than 0 and at most `maxDelayMs`, is sent: to the level of the first digit 1 of the delay.
 */
export function delayRoute(name: string, delayMs: number): DelayRoute {
  const units = Math.ceil(delayMs / unitMs);
  const digits = units.toString(2).padStart(levels, "0");
  return { exchange: levelName(name, levels - 1 - digits.indexOf("1")), routingKey: [...digits].join(".") };
}

function levelName(name: string, level: number): string {
  return `${name}.delay.${level}`;
}
