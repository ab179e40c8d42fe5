import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { until } from "./fleet.ts";
import { forgetfulRedis, type OwnServer } from "./own-server.ts";

/** A Redis primary with a replica, which can take its place. */
export interface RedisPair {
  /** The URL of the current primary. */
  readonly url: string;
  /** Stops the replication, so that the replica gets no further writes. */
  isolate(): Promise<void>;
  /** Makes the replica the primary, with the data that it has; the former primary becomes its replica. */
  fail(): Promise<void>;
  /** Resolves when the replication is connected, so that the replica can be isolated. */
  inSync(): Promise<void>;
  close(): Promise<void>;
}

/** Starts both servers. Returns null if Redis is not installed. */
export async function redisPair(folder: string): Promise<RedisPair | null> {
  const servers: OwnServer[] = [];
  for (const name of ["a", "b"]) {
    const data = join(folder, name);
    mkdirSync(data);
    const server = await forgetfulRedis(data);
    if (!server) return null;
    servers.push(server);
  }
  const clients = servers.map(({ url }) => new Redis(url, { maxRetriesPerRequest: null }));
  for (const client of clients) client.on("error", () => undefined);
  let counts = 0;
  const follow = async (): Promise<void> => {
    await clients[0]!.config("SET", "repl-diskless-sync-delay", "0");
    await clients[1]!.config("SET", "repl-diskless-sync-delay", "0");
    await clients[1 - counts]!.replicaof("127.0.0.1", Number(new URL(servers[counts]!.url).port));
  };
  await follow();
  return {
    get url() {
      return servers[counts]!.url;
    },
    async isolate() {
      await clients[1 - counts]!.replicaof("NO", "ONE");
    },
    async fail() {
      counts = 1 - counts;
      await follow();
    },
    async inSync() {
      const isLinked = async (): Promise<boolean> => (await clients[1 - counts]!.info("replication")).includes("master_link_status:up");
      await until("the replica follows", 30_000, isLinked);
    },
    async close() {
      for (const client of clients) client.disconnect();
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}
