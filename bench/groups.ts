import type { Group } from "./group.ts";

/** The groups by name. Each is loaded only when needed, because a process that measures one group must not carry the code of another. */
export const groups: Readonly<Record<string, () => Promise<Group>>> = {
  memory: async () => (await import("./cases/memory.ts")).memory,
  growth: async () => (await import("./cases/growth.ts")).growth,
  concurrency: async () => (await import("./cases/concurrency.ts")).concurrency,
  loop: async () => (await import("./cases/durable-loop.ts")).durableLoop,
  history: async () => (await import("./cases/history.ts")).history,
  sqlite: async () => (await import("./cases/sqlite.ts")).sqlite,
  postgres: async () => (await import("./cases/postgres.ts")).postgres,
  workers: async () => (await import("./cases/workers.ts")).workers,
  stores: async () => (await import("./cases/stores.ts")).stores,
  waiting: async () => (await import("./cases/waiting.ts")).waiting,
  code: async () => (await import("./cases/code.ts")).codeSteps,
  expressions: async () => (await import("./cases/expressions.ts")).expressions,
  bundle: async () => (await import("./cases/bundle.ts")).bundle,
  start: async () => (await import("./cases/start.ts")).start,
  studio: async () => (await import("./cases/studio.ts")).studio,
};
