import { serviceUrl } from "../../scripts/servers/service-url.ts";
import { slowMs } from "./gray.ts";
import { mysqlTarget } from "./mysql-target.ts";
import { postgresTarget } from "./postgres-target.ts";
import { startProxy, type TcpProxy } from "./proxy.ts";
import { redisTarget } from "./redis-target.ts";
import type { Target } from "./stored.ts";

const servers = {
  postgres: { service: "postgres", target: postgresTarget },
  mysql: { service: "mariadb", target: mysqlTarget },
  redis: { service: "redis", target: redisTarget },
} as const;

/** The name of a store that runs on a server. */
export type ServedStore = keyof typeof servers;

/** A store that processes reach only through a proxy. */
export interface BehindProxy {
  readonly proxy: TcpProxy;
  /** The store of the run. Checks ask the server directly, and only the processes use the proxy. */
  readonly target: Target;
  /** Ends the proxy, and deletes what the run has made. */
  close(): Promise<void>;
}

/** True if the name is that of a store on a server. */
export function isServed(name: string): name is ServedStore {
  return Object.hasOwn(servers, name);
}

/** Opens a proxy and a target behind it. Returns null if the server does not answer. */
export async function behindProxy(name: ServedStore): Promise<BehindProxy | null> {
  const { service, target: make } = servers[name];
  const url = await serviceUrl(service);
  if (url === null) return null;
  const proxy = await startProxy(url, { slowMs });
  const target = await make(url, proxy.url);
  const close = async (): Promise<void> => {
    await proxy.close();
    await target.drop();
  };
  return { proxy, target, close };
}
