import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { pingTimeoutMs, type Service } from "./service.ts";
import { findProgram } from "./system.ts";

export const redis: Service = {
  name: "redis",
  urlVariable: "STEPFOLD_REDIS_URL",
  portVariable: "STEPFOLD_REDIS_PORT",
  standardPort: 6379,
  url: (port) => `redis://127.0.0.1:${port}`,

  async ping(url) {
    const client = new Redis(url, {
      lazyConnect: true,
      connectTimeout: pingTimeoutMs,
      commandTimeout: pingTimeoutMs,
      enableReadyCheck: false,
      retryStrategy: () => null,
    });
    let reason: unknown;
    client.on("error", (error) => {
      reason = error;
    });
    try {
      await client.connect();
      await client.ping();
    } catch (error) {
      throw reason ?? error;
    } finally {
      client.disconnect();
    }
  },

  missing: () => (findProgram("redis-server") ? undefined : { debianPackages: ["redis-server"] }),

  async prepare(folder, port) {
    const data = join(folder, "data");
    mkdirSync(data, { recursive: true });
    return {
      program: findProgram("redis-server")!,
      args: ["--bind", "127.0.0.1", "--port", String(port), "--save", "", "--appendonly", "no", "--dir", data],
      stopSignal: "SIGTERM",
    };
  },
};
