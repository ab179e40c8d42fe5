import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { deleteKeys, keysOf } from "./redis-keys.ts";
import { type Held, storedOf, type Tables, type Target } from "./stored.ts";

type Head = Readonly<Record<string, string>>;

/**
 * Makes a target with a key prefix of its own on a Redis server. It reads the keys by their documented layout.
 * @param through the server URL that the processes use, if it is not `url`
 */
export async function redisTarget(url: string, through: string = url): Promise<Target> {
  const prefix = `kill9_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  redis.on("error", () => undefined);
  const key = (kind: string, id: string): string => `{${prefix}}:${kind}:${id}`;
  /** Returns the ids of all stored executions, without the use of the indexes. */
  const ids = async (): Promise<string[]> => (await keysOf(redis, key("e", "*"))).map((one) => one.slice(key("e", "").length));
  const headsOf = (some: readonly string[]): Promise<(readonly [string, Head])[]> =>
    Promise.all(some.map(async (id) => [id, (await redis.hgetall(key("e", id))) as Head] as const));
  return {
    name: "redis",
    url: `${through.replace(/\/$/, "")}/?prefix=${prefix}`,
    async countOpen() {
      return (await redis.zcard(`{${prefix}}:created`)) - (await redis.zcard(`{${prefix}}:ended`));
    },
    async heldBy(owner) {
      // a member consists of a time and the number of the execution, 16 digits each, and the execution's id
      const idsIn = async (list: string): Promise<string[]> =>
        (await redis.zrange(`{${prefix}}:${list}`, "0", "-1")).map((member) => member.slice(32));
      const ended = new Set(await idsIn("ended"));
      const open = (await idsIn("created")).filter((id) => !ended.has(id));
      const held = (await headsOf(open)).filter(([, head]) => head.owner === owner);
      return held.map(([workflowId, head]): Held => ({ workflowId, version: Number(head.version) }));
    },
    async readAll() {
      const all = (await headsOf(await ids())).sort(([, a], [, b]) => Number(a.seq) - Number(b.seq));
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
      const definitions = Object.entries((await redis.hgetall(`{${prefix}}:definition`)) as Head);
      return storedOf({
        executions: all.map(([id, head]) => ({ ...(head as unknown as Tables["executions"][number]), id, owner: head.owner || null })),
        events: events.flat(),
        children: children.flat(),
        // a record consists of a revision, a space and the text
        definitions: definitions.map(([hash, record]) => ({ hash, definition: record.slice(record.indexOf(" ") + 1) })),
      });
    },
    async drop() {
      await deleteKeys(redis, `{${prefix}}:*`);
      redis.disconnect();
    },
  };
}

/** Parses a row: the id of the commit as a JSON string, directly followed by the event. */
function eventOf(row: string): { readonly commit_id: string; readonly event: string } {
  const id = /^"(?:[^"\\]|\\.)*"/.exec(row)![0];
  return { commit_id: JSON.parse(id) as string, event: row.slice(id.length) };
}

function childrenOf(fields: Head): { readonly key: string; readonly head: string }[] {
  return Object.entries(fields)
    .map(([key, value]) => ({ key: key.slice(1), place: Number.parseInt(value, 10), head: value.slice(value.indexOf(":") + 1) }))
    .sort((a, b) => a.place - b.place);
}
