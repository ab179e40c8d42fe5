import { randomUUID } from "node:crypto";
import { Redis } from "@upstash/redis";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "./service-url.ts";
import { upstashServer } from "./upstash-server.ts";

const redisUrl = await serviceUrlOrSkip("redis");
const server = redisUrl === null ? undefined : await upstashServer({ redisUrl, token: "secret" });
const prefix = `stepfold-${randomUUID()}`;
const keys: string[] = [];

function key(): string {
  const name = `${prefix}-${keys.length}`;
  keys.push(name);
  return name;
}

function connect(token = "secret"): Redis {
  return new Redis({ url: server!.url, token, enableTelemetry: false, retry: false });
}

afterAll(async () => {
  if (!server) return;
  if (keys.length > 0) await connect().del(...keys);
  await server.close();
});

const compareAndSet = "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('set', KEYS[1], ARGV[2]) return 1 else return 0 end";

describe.skipIf(!server)("the stand-in for Upstash", () => {
  it("gives back text, numbers, objects, lists and nothing", async () => {
    const redis = connect();
    const name = key();
    expect(await redis.set(name, { text: "ä€", list: [1, null] })).toBe("OK");
    expect(await redis.get(name)).toEqual({ text: "ä€", list: [1, null] });
    expect(await redis.get(`${name}-other`)).toBe(null);
    expect(await redis.set(name, "x", { nx: true })).toBe(null);
    const list = key();
    expect(await redis.rpush(list, "a", "OK", "é")).toBe(3);
    expect(await redis.lrange(list, 0, -1)).toEqual(["a", "OK", "é"]);
  });

  it("has one winner among 50 who compare and set", async () => {
    const redis = connect();
    const name = key();
    await redis.set(name, "1");
    const results = await Promise.all(Array.from({ length: 50 }, (_, n) => redis.eval(compareAndSet, [name], ["1", `by-${n}`])));
    expect(results.filter((result) => result === 1)).toHaveLength(1);
  });

  it("keeps 50 transactions apart", async () => {
    const redis = connect();
    const name = key();
    const results = await Promise.all(
      Array.from({ length: 50 }, () => redis.multi().incr(name).incr(name).get(name).exec<[number, number, number]>()),
    );
    for (const [first, second, read] of results) expect([second, read]).toEqual([first + 1, first + 1]);
    expect(await redis.get(name)).toBe(100);
  });

  it("answers a pipeline command by command, and discards a transaction with a wrong one", async () => {
    const redis = connect();
    const [text, number] = [key(), key()];
    await redis.set(text, "x");
    const answers = await redis.pipeline().incr(number).lpush(text, "y").incr(number).exec({ keepErrors: true });
    expect(answers.map(({ result, error }) => error ?? result)).toEqual([1, expect.stringContaining("WRONGTYPE"), 2]);
    const response = await fetch(`${server!.url}/multi-exec`, {
      method: "POST",
      headers: { authorization: "Bearer secret" },
      body: JSON.stringify([["INCR", number], ["NONSENSE"]]),
    });
    expect([response.status, await response.json()]).toEqual([400, { error: expect.stringContaining("EXECABORT") }]);
    expect(await redis.get(number)).toBe(2);
  });

  it("says what is wrong as Upstash does", async () => {
    const redis = connect();
    const name = key();
    await redis.set(name, "x");
    await expect(redis.incr(name)).rejects.toThrow(/ERR value is not an integer/);
    await expect(connect("wrong").get(name)).rejects.toThrow(/WRONGPASS/);
    const headers = { authorization: "Bearer secret" };
    const refused = await fetch(`${server!.url}/incr/${name}`, { headers });
    expect([refused.status, await refused.json()]).toEqual([400, { error: expect.stringContaining("ERR") }]);
    expect(await (await fetch(`${server!.url}/set/${name}`, { method: "POST", headers, body: "long text" })).json()).toEqual({
      result: "OK",
    });
    expect(await redis.get(name)).toBe("long text");
  });
});
