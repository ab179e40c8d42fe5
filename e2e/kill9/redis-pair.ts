import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { until } from "./fleet.ts";
import { forgetfulRedis, type OwnServer } from "./own-server.ts";

/** A Redis with a replica, which can be made the one that counts. */
export interface RedisPair {
  /** Of the one that counts now. */
  readonly url: string;
  /** From now on the replica gets nothing any more. */
  isolate(): Promise<void>;
  /** The replica is the one that counts, as it is; the other one becomes its replica. */
  fail(): Promise<void>;
  /** Resolves when the replica has what the other has, so that it can be isolated. */
  inSync(): Promise<void>;
  close(): Promise<void>;
}

/** Starts both; null where there is no program for them. */
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
