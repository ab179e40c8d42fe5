import { rm } from "node:fs/promises";
import type { Site } from "./site.ts";

/** `sqlite:PATH`. */
export async function connectSqlite(url: string): Promise<Site> {
  const { sqliteStore } = await import("../sqlite/sqlite-store.ts");
  const { sqliteLayout } = await import("../sql/sqlite-layout.ts");
  const path = url.replace(/^sqlite:(\/\/(?=\/))?/, "");
  return {
    name: "sqlite",
    space: path,
    hasSpaces: true,
    open: async (space, { idempotencyRetentionMs }) =>
      sqliteStore(space === path ? path : `${path}.${space}`, idempotencyRetentionMs === undefined ? {} : { idempotencyRetentionMs }),
    async drop(space) {
      for (const end of ["", "-wal", "-shm"]) await rm(`${path}.${space}${end}`, { force: true });
    },
    migrations: async () => sqliteLayout.flat(),
    close: async () => undefined,
  };
}
