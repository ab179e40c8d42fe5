import type { UpstashClient } from "../upstash/upstash-store.ts";
import { importDriver } from "./import-driver.ts";
import { type Site, takeParameter } from "./site.ts";

interface Client extends UpstashClient {
  scan(cursor: string, options: { match: string; count: number }): Promise<[string | number, string[]]>;
  del(...keys: string[]): Promise<unknown>;
}

interface Driver {
  readonly Redis: new (config: { url: string; token: string }) => Client;
}

/** `upstash://:TOKEN@host?prefix=stepfold`, `upstash:http://127.0.0.1:8079?token=TOKEN`, with `@upstash/redis`. */
export async function connectUpstash(text: string): Promise<Site> {
  const url = new URL(text.replace(/^upstash:(\/\/)?/, (_all, slashes) => (slashes ? "https://" : "")));
  const prefix = takeParameter(url, "prefix", "stepfold");
  const token = takeParameter(url, "token", decodeURIComponent(url.password));
  const { upstashStore } = await import("../upstash/upstash-store.ts");
  const { Redis } = await importDriver<Driver>("@upstash/redis", "upstash");
  const client = new Redis({ url: url.origin, token });
  return {
    name: "upstash",
    space: prefix,
    hasSpaces: true,
    open: async (space, { idempotencyRetentionMs }) =>
      upstashStore(client, { prefix: space, ...(idempotencyRetentionMs !== undefined && { idempotencyRetentionMs }) }),
    async drop(space) {
      for (let cursor = "0"; ; ) {
        const [next, keys] = await client.scan(cursor, { match: `{${space}}:*`, count: 500 });
        if (keys.length > 0) await client.del(...keys);
        cursor = String(next);
        if (cursor === "0") return;
      }
    },
    migrations: async () => null,
    close: async () => undefined,
  };
}
