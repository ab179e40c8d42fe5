import { type ServiceName, serviceUrl } from "../../scripts/servers/service-url.ts";
import { mysqlTarget } from "./mysql-target.ts";
import { postgresTarget } from "./postgres-target.ts";
import { type QueueTarget, queueTargets } from "./queue-targets.ts";
import { redisTarget } from "./redis-target.ts";
import { sqliteTarget } from "./sqlite-target.ts";
import type { Target } from "./stored.ts";

/** Functions that make the store of a run. They return null if the server does not answer. */
const stores: Readonly<Record<string, (folder: string) => Promise<Target | null>>> = {
  sqlite: sqliteTarget,
  postgres: () => onServer("postgres", postgresTarget),
  mysql: () => onServer("mariadb", mysqlTarget),
  redis: () => onServer("redis", redisTarget),
};

/** True if the name is that of a store (`postgres`), or of a store and a queue (`postgres + bullmq`). */
export function isSetup(name: string): boolean {
  const [store, queue] = partsOf(name);
  return Object.hasOwn(stores, store) && (queue === undefined || Object.hasOwn(queueTargets, queue));
}

/** Makes the store of a run, and its queue if the name has one. Returns null if a server does not answer. */
export async function openTarget(name: string, folder: string): Promise<Target | null> {
  const [store, queue] = partsOf(name);
  const target = await stores[store]!(folder);
  if (!target || queue === undefined) return target;
  let opened: QueueTarget | null = null;
  try {
    opened = await queueTargets[queue]!();
  } finally {
    if (!opened) await target.drop();
  }
  return opened && withQueue(target, queue, opened);
}

function withQueue(target: Target, name: string, { url, drop }: QueueTarget): Target {
  return {
    ...target,
    name: `${target.name} + ${name}`,
    queueUrl: url,
    async drop() {
      await Promise.all([target.drop(), drop()]);
    },
  };
}

function partsOf(name: string): [store: string, queue?: string] {
  return name.split(" + ") as [string, string?];
}

async function onServer(name: ServiceName, make: (url: string) => Promise<Target>): Promise<Target | null> {
  const url = await serviceUrl(name);
  return url === null ? null : make(url);
}
