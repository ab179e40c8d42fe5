import type { ScriptServer } from "./run-script.ts";

/** What of an ioredis client is called: `new Redis()` or `new Cluster()` of ioredis 5 or 6. */
export interface IoredisClient {
  evalsha(sha1: string, numkeys: number, keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, numkeys: number, keysAndArguments: string[]): Promise<unknown>;
}

/** What of a node-redis client is called: `createClient()`, `createCluster()`, `createSentinel()`, `createClientPool()`. */
export interface NodeRedisClient {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A connected client of one of the two libraries. */
export type RedisClient = IoredisClient | NodeRedisClient;

/** The client as scripts are sent through it. */
export function serverOf(client: RedisClient): ScriptServer {
  if ("evalSha" in client) {
    return {
      evalsha: (sha1, keys, args) => client.evalSha(sha1, { keys: [...keys], arguments: [...args] }),
      eval: (text, keys, args) => client.eval(text, { keys: [...keys], arguments: [...args] }),
    };
  }
  return {
    evalsha: (sha1, keys, args) => client.evalsha(sha1, keys.length, [...keys, ...args]),
    eval: (text, keys, args) => client.eval(text, keys.length, [...keys, ...args]),
  };
}
