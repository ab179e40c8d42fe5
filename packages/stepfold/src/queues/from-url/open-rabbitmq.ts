import { invalidUrl, parsedUrl, takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { RabbitmqConnection } from "../rabbitmq/rabbitmq-client.ts";
import { isRefusedByRabbitmq } from "../rabbitmq/rabbitmq-error.ts";
import { connected, connectMs } from "./connected.ts";
import type { QueueAndClient } from "./queue-and-client.ts";

interface Client {
  readonly Connection: new (config: {
    url: string;
    acquireTimeout: number;
  }) => RabbitmqConnection & {
    on(event: "error", listener: (error: unknown) => void): unknown;
    onConnect(timeoutMs: number): Promise<void>;
    close(): Promise<void>;
    unsafeDestroy(): void;
  };
}

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
  try {
    await connected("rabbitmq", connection, connection.onConnect(connectMs), isRefusedByRabbitmq);
  } catch (error) {
    connection.unsafeDestroy();
    throw error;
  }
  return { queue: rabbitmqQueue(connection, { name, queueType }), closeClient: () => connection.close() };
}
