import { invalidUrl, parsedUrl, takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { RabbitmqConnection } from "../rabbitmq/rabbitmq-client.ts";
import type { QueueAndClient } from "./queue-and-client.ts";

interface Client {
  readonly Connection: new (config: {
    url: string;
    acquireTimeout: number;
  }) => RabbitmqConnection & {
    on(event: "error", listener: () => void): unknown;
    onConnect(timeoutMs: number): Promise<void>;
    close(): Promise<void>;
    unsafeDestroy(): void;
  };
}

/** How long a connection may take to open, in milliseconds. */
const connectMs = 10_000;

/** Opens `amqp://user:password@host:5672/vhost?queue=stepfold&type=quorum`, with the package `rabbitmq-client`. */
export async function openRabbitmq(text: string): Promise<QueueAndClient> {
  const { url, taken } = takeParameters(text, { queue: "stepfold", type: "classic" });
  parsedUrl(url, "queue");
  const { queue: name, type: queueType } = taken;
  if (queueType !== "classic" && queueType !== "quorum")
    throw invalidUrl(`has a parameter "type" that is neither classic nor quorum`, "queue");
  const { rabbitmqQueue } = await import("../rabbitmq/rabbitmq-queue.ts");
  const { Connection } = await importDriver<Client>("rabbitmq-client", { queue: "rabbitmq" });
  const connection = new Connection({ url, acquireTimeout: connectMs });
  // the connection opens again by itself, and calls that fail meanwhile reject
  let reason: unknown;
  connection.on("error", (...[error]: unknown[]) => {
    reason = error;
  });
  try {
    await connection.onConnect(connectMs);
  } catch (error) {
    connection.unsafeDestroy();
    throw reason ?? error;
  }
  return { queue: rabbitmqQueue(connection, { name, queueType }), closeClient: () => connection.close() };
}
