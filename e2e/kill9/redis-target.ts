import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { type Held, storedOf, type Tables, type Target } from "./stored.ts";

type Head = Readonly<Record<string, string>>;

/** Keys of our own in a Redis server, read by their documented layout. @param through the URL that the processes use, where it is not the server's own */
export async function redisTarget(url: string, through: string = url): Promise<Target> {
  const prefix = `kill9_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  redis.on("error", () => undefined);
  const key = (kind: string, id: string): string => `{${prefix}}:${kind}:${id}`;
  const keys = async (pattern: string): Promise<string[]> => {
    const found = new Set<string>();
    for (let cursor = "0"; ; ) {
      const [next, some] = await redis.scan(cursor, "MATCH", `{${prefix}}:${pattern}`, "COUNT", 1_000);
      for (const one of some) found.add(one);
      cursor = next;
      if (cursor === "0") return [...found];
    }
  };
  const ids = async (): Promise<string[]> => (await keys("e:*")).map((one) => one.slice(key("e", "").length));
  const heads = async (): Promise<(readonly [string, Head])[]> =>
    Promise.all((await ids()).map(async (id) => [id, (await redis.hgetall(key("e", id))) as Head] as const));
  return {
    name: "redis",
    url: `${through.replace(/\/$/, "")}/?prefix=${prefix}`,
    async countOpen() {
      return (await ids()).length - (await redis.zcard(`{${prefix}}:ended`));
    },
    async heldBy(owner) {
      const held = (await heads()).filter(([, head]) => head.owner === owner);
      return held.map(([workflowId, head]): Held => ({ workflowId, version: Number(head.version) }));
    },
    async readAll() {
      const all = (await heads()).sort(([, a], [, b]) => Number(a.seq) - Number(b.seq));
      const events = await Promise.all(
        all.map(async ([id, { seq }]) =>
          (await redis.lrange(key("h", id), 0, -1)).map((row, version) => ({ execution: seq!, version, ...eventOf(row) })),
        ),
      );
      const children = await Promise.all(
        all.map(async ([id, { seq }]) =>
          childrenOf((await redis.hgetall(key("c", id))) as Head).map((child) => ({ execution: seq!, ...child })),
        ),
      );
      const definitions = Object.entries((await redis.hgetall(`{${prefix}}:definitions`)) as Head);
      return storedOf({
        executions: all.map(([id, head]) => ({ ...(head as unknown as Tables["executions"][number]), id, owner: head.owner || null })),
        events: events.flat(),
        children: children.flat(),
        definitions: definitions.map(([hash, definition]) => ({ hash, definition })),
      });
    },
    async drop() {
      for (const one of await keys("*")) await redis.del(one);
      redis.disconnect();
    },
  };
}

/** An event lies right behind the id of its commit, which is JSON. */
function eventOf(row: string): { readonly commit_id: string; readonly event: string } {
  const id = /^"(?:[^"\\]|\\.)*"/.exec(row)![0];
  return { commit_id: JSON.parse(id) as string, event: row.slice(id.length) };
}

function childrenOf(fields: Head): { readonly key: string; readonly head: string }[] {
  return Object.entries(fields)
    .map(([key, value]) => ({ key: key.slice(1), place: Number.parseInt(value, 10), head: value.slice(value.indexOf(":") + 1) }))
    .sort((a, b) => a.place - b.place);
}
