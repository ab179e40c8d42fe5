import { randomUUID } from "node:crypto";
import { SQS } from "@aws-sdk/client-sqs";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { Redis } from "ioredis";
import pg from "pg";
import { Connection } from "rabbitmq-client";
import { serviceUrl } from "../../scripts/servers/service-url.ts";
import { migrateBullmq } from "./open-bullmq.ts";
import { newBoss } from "./open-pg-boss.ts";
import { deleteKeys } from "./redis-keys.ts";

/** A queue of a run. Checks do not read it, because its messages are only hints. */
export interface QueueTarget {
  readonly url: string;
  /** Deletes what the run has made. */
  drop(): Promise<void>;
}

/** Functions that make the queue of a run. They return null if the server does not answer. */
export const queueTargets: Readonly<Record<string, () => Promise<QueueTarget | null>>> = {
  async bullmq() {
    const server = await serviceUrl("redis");
    if (server === null) return null;
    const prefix = newName();
    const drop = async (): Promise<void> => {
      const redis = new Redis(server);
      await deleteKeys(redis, `${prefix}:*`);
      redis.disconnect();
    };
    return { url: `bullmq:${server.replace(/\/$/, "")}/?prefix=${prefix}`, drop };
  },
  async rabbitmq() {
    const server = await serviceUrl("rabbitmq");
    if (server === null) return null;
    const queue = newName();
    const drop = async (): Promise<void> => {
      const connection = new Connection(server);
      const { queues, exchanges } = rabbitmqNames(queue);
      for (const name of queues) await connection.queueDelete({ queue: name });
      for (const name of exchanges) await connection.exchangeDelete({ exchange: name });
      await connection.close();
    };
    return { url: `${server}?queue=${queue}`, drop };
  },
  async nats() {
    const server = await serviceUrl("nats");
    if (server === null) return null;
    const queue = newName();
    const drop = async (): Promise<void> => {
      const connection = await connect({ servers: server });
      const manager = await jetstreamManager(connection);
      await manager.streams.delete(queue).catch(() => undefined);
      await connection.close();
    };
    return { url: `${server}?queue=${queue}`, drop };
  },
  async sqs() {
    const server = await serviceUrl("sqs");
    if (server === null) return null;
    const client = new SQS({ region: "us-east-1", endpoint: server, credentials: { accessKeyId: "local", secretAccessKey: "local" } });
    const { QueueUrl = "" } = await client.createQueue({ QueueName: newName() });
    const drop = async (): Promise<void> => {
      await client.deleteQueue({ QueueUrl });
      client.destroy();
    };
    // the host in the emulator's queue URL is not reachable, so only the path is used
    const path = QueueUrl.split("/").slice(-2).join("/");
    return { url: `sqs:${server}/${path}?region=us-east-1&endpoint=${server}`, drop };
  },
  "bullmq-postgres": () => inSchema("bullmq", migrateBullmq),
  "pg-boss": () =>
    inSchema("pg-boss", async (url) => {
      const boss = newBoss(url);
      await boss.start();
      await boss.stop();
    }),
};

/** Returns the names of everything that a RabbitMQ queue of this name declares, as docs/queues/rabbitmq.md says. */
function rabbitmqNames(queue: string): { readonly queues: readonly string[]; readonly exchanges: readonly string[] } {
  const levels = Array.from({ length: 26 }, (_, level) => `${queue}.delay.${level}`);
  return { queues: [queue, ...levels], exchanges: levels };
}

/** Makes a queue in a PostgreSQL schema of its own, in which `migrate` creates the tables. */
async function inSchema(kind: string, migrate: (url: URL) => Promise<void>): Promise<QueueTarget | null> {
  const server = await serviceUrl("postgres");
  if (server === null) return null;
  const url = new URL(server);
  const schema = newName();
  url.searchParams.set("schema", schema);
  const drop = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await client.end();
  };
  try {
    await migrate(url);
  } catch (error) {
    await drop();
    throw error;
  }
  return { url: `${kind}:${url.href}`, drop };
}

function newName(): string {
  return `kill9_queue_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
}
