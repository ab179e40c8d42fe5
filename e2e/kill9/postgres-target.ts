import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { openStore } from "./open-store.ts";
import { type Held, storedOf, type Target } from "./stored.ts";

/**
 * Makes a schema for the run in a PostgreSQL database.
 * @param through the database URL that the processes use, if it is not `url`
 */
export async function postgresTarget(url: string, through: string = url): Promise<Target> {
  const schema = `kill9_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
  const withSchema = (base: string): string => {
    const parsed = new URL(base);
    parsed.searchParams.set("schema", schema);
    return parsed.href;
  };
  const { close } = await openStore(withSchema(url), { migrate: true });
  await close();
  const pool = new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 5_000, query_timeout: 60_000 });
  pool.on("error", () => undefined);
  const all = async (sql: string, values: unknown[] = []): Promise<never> => (await patiently(() => pool.query(sql, values))).rows as never;
  const table = (name: string): string => `"${schema}".${name}`;
  return {
    name: "postgres",
    url: withSchema(through),
    async countOpen() {
      const [row]: { open: string }[] = await all(`SELECT count(*) AS open FROM ${table("executions")} WHERE ended_at IS NULL`);
      return Number(row!.open);
    },
    async heldBy(owner) {
      const rows: { id: string; version: string }[] = await all(
        `SELECT id, version FROM ${table("executions")} WHERE owner = $1 AND ended_at IS NULL`,
        [owner],
      );
      return rows.map(({ id, version }): Held => ({ workflowId: id, version: Number(version) }));
    },
    async readAll() {
      return storedOf({
        executions: await all(
          `SELECT seq, id, incarnation, definition::text, metadata::text, version, status, head::text, owner FROM ${table("executions")} ORDER BY seq`,
        ),
        events: await all(`SELECT execution, version, commit_id, event::text FROM ${table("events")} ORDER BY execution, version`),
        children: (
          (await all(`SELECT execution, key::text, head::text FROM ${table("children")} ORDER BY execution, place`)) as {
            execution: string;
            key: string;
            head: string;
          }[]
        ).map((child) => ({ ...child, key: JSON.parse(child.key) as string })),
        definitions: await all(`SELECT key AS hash, value::text AS definition FROM ${table("records")} WHERE kind = 'definition'`),
      });
    },
    async drop() {
      await patiently(() => pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`));
      await pool.end();
    },
  };
}

/** Asks again while the server has no connection to spare: those of processes that were killed or cut off end a little later. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + 60_000; ; await sleep(200)) {
    try {
      return await ask();
    } catch (error) {
      if ((error as { code?: unknown }).code !== "53300" || performance.now() > deadline) throw error;
    }
  }
}
