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

/** Sends a script to a server: `eval` its text, `evalsha` its hash. */
export type SendScript = (command: "eval" | "evalsha", script: string, keys: string[], args: string[]) => Promise<unknown>;

/** How scripts are sent through a client. */
export function scriptSender(client: RedisClient): SendScript {
  if ("evalSha" in client) {
    return (command, script, keys, args) => client[command === "eval" ? "eval" : "evalSha"](script, { keys, arguments: args });
  }
  return (command, script, keys, args) => client[command](script, keys.length, [...keys, ...args]);
}
