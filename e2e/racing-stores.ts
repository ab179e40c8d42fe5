import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { hranaServer } from "../scripts/servers/hrana-server.ts";
import { mongoServer } from "../scripts/servers/mongo-server.ts";
import { type ServiceName, serviceUrl } from "../scripts/servers/service-url.ts";
import type { StandIn } from "../scripts/servers/stand-in.ts";
import { upstashServer } from "../scripts/servers/upstash-server.ts";
import { effort } from "../scripts/test/effort.ts";

/** A store that several processes can open at the same time. */
export interface RacingStore {
  readonly name: string;
  /** The number of races. It is smaller for stand-ins of a database, which are slow; all of them have passed 1,000 races. */
  readonly rounds: number;
  /** Returns the URL of a new store, or null if the server does not answer. */
  open(folder: string): Promise<{ readonly url: string; close(): Promise<void> } | null>;
}

const space = (): string => `race_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
const nothing = async (): Promise<void> => undefined;

function served(name: string, service: ServiceName, urlOf: (url: URL) => string): RacingStore {
  return {
    name,
    rounds: effort.races,
    async open() {
      const url = await serviceUrl(service);
      return url === null ? null : { url: urlOf(new URL(url)), close: nothing };
    },
  };
}

function standIn(name: string, start: (folder: string) => Promise<StandIn>, urlOf: (url: string) => string): RacingStore {
  return {
    name,
    rounds: effort.standInRaces,
    async open(folder) {
      const server = await start(folder);
      return { url: urlOf(server.url), close: () => server.close() };
    },
  };
}

function withParameter(url: URL, name: string, value: string): string {
  url.searchParams.set(name, value);
  return url.href;
}

/** Every store that several processes can share. */
export const racingStores: readonly RacingStore[] = [
  { name: "sqlite", rounds: effort.races, open: async (folder) => ({ url: `sqlite:${join(folder, "race.db")}`, close: nothing }) },
  {
    name: "libsql (a file)",
    rounds: effort.races,
    open: async (folder) => ({ url: `libsql:file:${join(folder, "race.db")}`, close: nothing }),
  },
  standIn(
    "libsql (remote protocol)",
    (folder) => hranaServer({ path: join(folder, "race.db") }),
    (url) => `libsql:${url}`,
  ),
  // other tests share the server, whose connections are limited
  served("postgres", "postgres", (url) => withParameter(new URL(withParameter(url, "schema", space())), "pool", "6")),
  served("mariadb", "mariadb", (url) => withParameter(url, "prefix", `${space()}_`)),
  served("redis", "redis", (url) => withParameter(url, "prefix", space())),
  {
    name: "upstash (its protocol)",
    rounds: effort.standInRaces,
    async open() {
      const redisUrl = await serviceUrl("redis");
      if (redisUrl === null) return null;
      const server = await upstashServer({ redisUrl });
      return { url: `upstash:${withParameter(new URL(server.url), "prefix", space())}&token=token`, close: () => server.close() };
    },
  },
  served("dynamodb", "dynamodb", ({ origin }) => `dynamodb://local/${space()}?endpoint=${encodeURIComponent(origin)}`),
  standIn("mongodb (wire stand-in)", mongoServer, (url) => withParameter(new URL(url.replace(/\/?$/, "/race")), "prefix", `${space()}_`)),
];
