import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { serviceUrl } from "../../../../scripts/servers/service-url.ts";
import type { WorkQueue } from "../../src/ports/work-queue.ts";
import { natsQueue } from "../../src/queues/nats/index.ts";
import type { QueueBench } from "../../src/testing/index.ts";
import { wait } from "../testing/store-contract.fixture.ts";

/** The address of NATS; null if no server answers. */
export const url: string | null = await serviceUrl("nats");

let queues = 0;

/** A name that no other run uses. */
export function newStreamName(): string {
  return `stepfold-test-${process.pid}-${++queues}-${Math.trunc(performance.timeOrigin % 1e9)}`;
}

/** Opens a connection that reconnects by itself. */
export function connectionOf(address: string | null = url): Promise<NatsConnection> {
  return connect({ servers: address ?? "", maxReconnectAttempts: -1, reconnectTimeWait: 50, timeout: 3_000 });
}

/** Deletes the stream that a queue has made. */
export async function deleteStream(name: string): Promise<void> {
  const connection = await connectionOf();
  const manager = await jetstreamManager(connection);
  await manager.streams.delete(name).catch(() => undefined);
  await connection.close();
}

/** A bench on a new queue. Each handle has its own connection, and `kill` closes the connection of one handle. */
export async function natsBench(): Promise<QueueBench & { readonly close: () => Promise<void> }> {
  const name = newStreamName();
  const connections = new Map<WorkQueue, NatsConnection>();
  const open = async (): Promise<WorkQueue> => {
    const connection = await connectionOf();
    const queue = natsQueue(await jetstreamManager(connection), { name, retryDelayMs: 300 });
    connections.set(queue, connection);
    return queue;
  };
  return {
    queue: await open(),
    open,
    advance: wait,
    leaseMs: 1_500,
    patienceMs: 2_000,
    noticeMs: 4_000,
    kill: async (queue) => connections.get(queue)?.close(),
    async close() {
      for (const connection of connections.values()) await connection.close();
      await deleteStream(name);
    },
  };
}
