import { invalidUrl, parsedUrl, takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { UpstashClient } from "../databases/upstash/upstash-store.ts";
import { answerLimitMs } from "./answer-limit.ts";
import type { Site } from "./site.ts";

interface Client extends UpstashClient {
  scan(cursor: string, options: { match: string; count: number }): Promise<[string | number, string[]]>;
  del(...keys: string[]): Promise<unknown>;
}

interface Driver {
  readonly Redis: new (config: { url: string; token: string; signal: () => AbortSignal }) => Client;
}

/** Connects to `upstash://:TOKEN@host?prefix=stepfold` or `upstash:http://127.0.0.1:8079?token=TOKEN` with `@upstash/redis`. */
export async function connectUpstash(text: string, answerMs: number = answerLimitMs): Promise<Site> {
  const address = text.replace(/^upstash:(\/\/)?/i, (_all, slashes) => (slashes ? "https://" : ""));
  const { url, taken } = takeParameters(address, { prefix: "stepfold", token: "" });
  const { origin, password, protocol } = parsedUrl(url);
  if (!/^https?:$/.test(protocol)) throw invalidUrl("must be upstash://:TOKEN@host or upstash:https://host?token=TOKEN");
  const token = taken.token || decodeURIComponent(password);
  if (token === "") throw invalidUrl("contains no token: upstash://:TOKEN@host, or ?token=TOKEN");
  const { upstashStore } = await import("../databases/upstash/upstash-store.ts");
  const { Redis } = await importDriver<Driver>("@upstash/redis", "upstash");
  const client = new Redis({ url: origin, token, signal: () => AbortSignal.timeout(answerMs) });
  return {
    name: "upstash",
    space: taken.prefix,
    hasSpaces: true,
    open: async (space, { idempotencyRetentionMs }) =>
      upstashStore(client, { prefix: space, ...(idempotencyRetentionMs !== undefined && { idempotencyRetentionMs }) }),
    async drop(space) {
      // other characters could have a special meaning in the pattern
      if (!/^[\w.:-]{1,48}$/.test(space)) throw invalidUrl('has a parameter "prefix" that is not 1 to 48 letters, digits, _ - . and :');
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
