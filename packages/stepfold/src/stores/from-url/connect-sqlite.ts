import { rm } from "node:fs/promises";
import { parseStoreUrl } from "./parse-store-url.ts";
import type { Site } from "./site.ts";

/** Connects to `sqlite:PATH`, or to a path without a scheme. */
export async function connectSqlite(url: string): Promise<Site> {
  const { sqliteStore } = await import("../databases/sqlite/sqlite-store.ts");
  const { sqliteSchema } = await import("../databases/sqlite-dialect/sqlite-schema.ts");
  const path = parseStoreUrl(url).path!;
  // another space is a file in the same folder: the name of this file with the space as an ending
  const fileOf = (space: string): string => (space === path ? path : `${path}.${space}`);
  return {
    name: "sqlite",
    space: path,
    hasSpaces: true,
    open: async (space, { idempotencyRetentionMs }) =>
      sqliteStore(fileOf(space), idempotencyRetentionMs === undefined ? {} : { idempotencyRetentionMs }),
    async drop(space) {
      for (const end of ["", "-wal", "-shm"]) await rm(`${fileOf(space)}${end}`, { force: true });
    },
    migrations: async () => sqliteSchema,
    close: async () => undefined,
  };
}
