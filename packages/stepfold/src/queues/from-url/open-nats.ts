import { parsedUrl, takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { NatsJetStream } from "../nats/nats-client.ts";
import { connectMs } from "./connected.ts";
import type { QueueAndClient } from "./queue-and-client.ts";

interface Connection {
  close(): Promise<void>;
}

interface Transport {
  readonly connect: (options: {
    servers: string;
    user?: string;
    pass?: string;
    tls?: object;
    maxReconnectAttempts: number;
    timeout: number;
  }) => Promise<Connection>;
}

interface JetStreamPackage {
  readonly jetstreamManager: (connection: Connection) => Promise<NatsJetStream>;
}

/**
 * Opens `nats://user:password@host:4222?queue=stepfold&replicas=3` or `tls://…`, with the packages `@nats-io/transport-node` and
 * `@nats-io/jetstream`.
 */
export async function openNats(text: string): Promise<QueueAndClient> {
  const { url, taken } = takeParameters(text, { queue: "stepfold", replicas: "1" });
  const { protocol, host, username, password } = parsedUrl(url, "queue");
  const { natsQueue } = await import("../nats/nats-queue.ts");
  const { connect } = await importDriver<Transport>("@nats-io/transport-node", { queue: "nats" });
  const { jetstreamManager } = await importDriver<JetStreamPackage>("@nats-io/jetstream", { queue: "nats" });
  const connection = await connect({
    servers: host,
    ...(username !== "" && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    ...(protocol === "tls:" && { tls: {} }),
    maxReconnectAttempts: -1,
    timeout: connectMs,
  });
  try {
    const manager = await jetstreamManager(connection);
    return { queue: natsQueue(manager, { name: taken.queue, replicas: Number(taken.replicas) }), closeClient: () => connection.close() };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
