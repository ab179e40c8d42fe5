import { Connection } from "rabbitmq-client";
import { serviceUrl } from "../../../../scripts/servers/service-url.ts";
import type { WorkQueue } from "../../src/ports/work-queue.ts";
import { delayTopology } from "../../src/queues/rabbitmq/delay-topology.ts";
import { type RabbitmqQueueType, rabbitmqQueue } from "../../src/queues/rabbitmq/index.ts";
import type { QueueBench } from "../../src/testing/index.ts";
import { wait } from "../testing/store-contract.fixture.ts";

/** The URL of RabbitMQ; null if no server answers. */
export const url: string | null = await serviceUrl("rabbitmq");

let queues = 0;

/** A name that no other run uses. */
export function newQueueName(): string {
  return `stepfold-test-${process.pid}-${++queues}-${Math.trunc(performance.timeOrigin % 1e9)}`;
}

/** Opens a connection whose error events are ignored, because the awaited calls report errors too. */
export function connectionOf(address: string | null = url): Connection {
  const connection = new Connection({ url: address ?? "", retryLow: 50, retryHigh: 500, acquireTimeout: 3_000 });
  connection.on("error", () => undefined);
  return connection;
}

/** Deletes the queues and exchanges that a queue has declared. */
export async function deleteQueue(name: string): Promise<void> {
  const connection = connectionOf();
  const { queues: declared, exchanges } = delayTopology(name, "classic");
  await Promise.all(declared.map(({ queue }) => connection.queueDelete({ queue })));
  await Promise.all(exchanges.map(({ exchange }) => connection.exchangeDelete({ exchange })));
  await connection.close();
}

/** A bench on a new queue. Each handle has its own connection, and `kill` destroys the connection of one handle. */
export function rabbitmqBench(queueType: RabbitmqQueueType): QueueBench & { readonly close: () => Promise<void> } {
  const name = newQueueName();
  const connections = new Map<WorkQueue, Connection>();
  const open = (): WorkQueue => {
    const connection = connectionOf();
    const queue = rabbitmqQueue(connection, { name, queueType, retryDelayMs: 300 });
    connections.set(queue, connection);
    return queue;
  };
  return {
    queue: open(),
    open: async () => open(),
    advance: wait,
    leaseMs: 1_000,
    patienceMs: 4_000,
    noticeMs: 3_000,
    kill: async (queue) => connections.get(queue)?.unsafeDestroy(),
    async close() {
      for (const connection of connections.values()) connection.unsafeDestroy();
      await deleteQueue(name);
    },
  };
}
