export type {
  NatsConsumer,
  NatsConsumerSettings,
  NatsJetStream,
  NatsMessage,
  NatsMessages,
  NatsStreamSettings,
} from "./nats-client.ts";
export { type NatsQueueOptions, natsQueue } from "./nats-queue.ts";
