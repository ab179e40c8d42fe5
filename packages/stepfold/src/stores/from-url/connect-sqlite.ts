import { rm } from "node:fs/promises";
import { invalidUrl } from "../../urls/address.ts";
import type { Site } from "./site.ts";

/** `sqlite:PATH`, or a path. */
export async function connectSqlite(url: string): Promise<Site> {
  const { sqliteStore } = await import("../databases/sqlite/sqlite-store.ts");
  const { sqliteSchema } = await import("../databases/sqlite-dialect/sqlite-schema.ts");
  const path = url.replace(/^sqlite:(\/\/)?/i, "");
  if (path === "") throw invalidUrl("names no file: sqlite:app.db");
  // another space is a file beside it, with its name and an ending
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
