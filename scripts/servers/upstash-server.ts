import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Redis } from "ioredis";
import { answerJson, readText } from "./http-exchange.ts";
import { listenOnLoopback, type StandIn, serveAlone } from "./stand-in.ts";

type RedisCommand = readonly (string | number)[];
type Answer = { readonly result: unknown } | { readonly error: string };

/**
 * Starts a stand-in for Upstash: its REST API (`/`, `/pipeline`, `/multi-exec` and commands as paths) on a real Redis.
 *
 * Redis is real, and so are commands, Lua, types and their errors. The REST side is our reading of Upstash's documentation: it cannot
 * prove Upstash's limits of size and rate, its replicas and their staleness, or which commands it refuses.
 *
 * @param options.redisUrl the Redis, which other programs may use at the same time
 * @param options.token the token that clients must send as `Authorization: Bearer`
 */
export async function upstashServer({ redisUrl, token = "token" }: { redisUrl: string; token?: string }): Promise<StandIn> {
  const redis = new Redis(redisUrl, { lazyConnect: true, maxRetriesPerRequest: 1 });
  // The callers of pending commands get the error of a lost connection; without a listener it would also be printed.
  redis.on("error", () => undefined);
  await redis.connect();
  const server = createServer((request, response) => {
    answer(redis, token, request, response).catch((error) => answerJson(response, 500, { error: messageOf(error) }));
  });
  const standIn = await listenOnLoopback(server, "http");
  return {
    url: standIn.url,
    async close() {
      await standIn.close();
      redis.disconnect();
    },
  };
}

async function answer(redis: Redis, token: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await readText(request);
  if (request.headers.authorization !== `Bearer ${token}`) {
    return answerJson(response, 401, { error: "WRONGPASS invalid or missing auth token" });
  }
  const encode = request.headers["upstash-encoding"] === "base64" ? inBase64 : inText;
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  if (pathname === "/pipeline" || pathname === "/multi-exec") {
    const commands = parseCommands(text);
    if (!commands) return answerJson(response, 400, { error: "ERR failed to parse pipeline request" });
    if (pathname === "/pipeline") return answerJson(response, 200, await Promise.all(commands.map((one) => run(redis, one, encode))));
    return answerTransaction(response, await runTransaction(redis, commands, encode));
  }
  const command =
    pathname === "/" ? parseCommand(text) : [...pathname.slice(1).split("/").map(decodeURIComponent), ...(text ? [text] : [])];
  if (!command) return answerJson(response, 400, { error: "ERR failed to parse command" });
  const result = await run(redis, command, encode);
  answerJson(response, "error" in result ? 400 : 200, result);
}

async function run(redis: Redis, [name, ...args]: RedisCommand, encode: Encode): Promise<Answer> {
  try {
    return { result: encodeResult(await redis.callBuffer(String(name), ...args.map(String)), encode) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

/** Sends all commands in one turn of the event loop, so that no command of another request comes between MULTI and EXEC. */
async function runTransaction(redis: Redis, commands: readonly RedisCommand[], encode: Encode): Promise<readonly Answer[] | string> {
  const opened = redis.callBuffer("MULTI");
  const queued = commands.map(([name, ...args]) => redis.callBuffer(String(name), ...args.map(String)));
  const executed = redis.callBuffer("EXEC");
  const [, last] = await Promise.all([Promise.allSettled([opened, ...queued]), settle(executed)]);
  if (last instanceof Error) return last.message;
  return (last as unknown[]).map((one) => (one instanceof Error ? { error: one.message } : { result: encodeResult(one, encode) }));
}

function answerTransaction(response: ServerResponse, answers: readonly Answer[] | string): void {
  if (typeof answers === "string") answerJson(response, 400, { error: answers });
  else answerJson(response, 200, answers);
}

async function settle(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    return error instanceof Error ? error : new TypeError(String(error));
  }
}

type Encode = (value: Buffer) => string;

const inText: Encode = (value) => value.toString();
const inBase64: Encode = (value) => value.toString("base64");

/** Encodes a result. Like Upstash, it does not encode the status OK, except inside a list. */
function encodeResult(value: unknown, encode: Encode): unknown {
  return Buffer.isBuffer(value) && value.toString() === "OK" ? "OK" : encodeDeep(value, encode);
}

function encodeDeep(value: unknown, encode: Encode): unknown {
  if (Buffer.isBuffer(value)) return encode(value);
  return Array.isArray(value) ? value.map((one) => encodeDeep(one, encode)) : value;
}

function parseCommands(text: string): readonly RedisCommand[] | undefined {
  const commands = parseJson(text);
  return Array.isArray(commands) && commands.every(isCommand) ? commands : undefined;
}

function parseCommand(text: string): RedisCommand | undefined {
  const command = parseJson(text);
  return isCommand(command) ? command : undefined;
}

function isCommand(value: unknown): value is RedisCommand {
  return Array.isArray(value) && value.length > 0;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

if (import.meta.main) await serveAlone(() => upstashServer({ redisUrl: process.argv[2] ?? "redis://127.0.0.1:6379" }));
