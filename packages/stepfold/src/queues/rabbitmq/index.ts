export type { RabbitmqQueueType } from "./delay-topology.ts";
export type {
  RabbitmqChannel,
  RabbitmqConnection,
  RabbitmqMessage,
  RabbitmqPublisher,
  RabbitmqQueueSettings,
  RabbitmqTopology,
} from "./rabbitmq-client.ts";
export { type RabbitmqQueueOptions, rabbitmqQueue } from "./rabbitmq-queue.ts";
