import { randomUUID } from "node:crypto";
import { createPool, type RowDataPacket } from "mysql2/promise";
import { openStore } from "./open-store.ts";
import { type Held, storedOf, type Target } from "./stored.ts";

/**
 * Makes a database for the run on a MySQL or MariaDB server.
 * @param through the server URL that the processes use, if it is not `url`
 */
export async function mysqlTarget(url: string, through: string = url): Promise<Target> {
  const database = `kill9_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
  const inDatabase = (base: string): string => Object.assign(new URL(base), { pathname: `/${database}` }).href;
  const pool = createPool({ uri: url, connectionLimit: 2, connectTimeout: 5_000 });
  await pool.query(`CREATE DATABASE ${database}`);
  const { close } = await openStore(inDatabase(url), { migrate: true });
  await close();
  const all = async (sql: string, values: unknown[] = []): Promise<never> => {
    const [rows] = await pool.query<RowDataPacket[]>(sql, values);
    return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, textOf(cell)]))) as never;
  };
  const table = (name: string): string => `${database}.stepfold_${name}`;
  return {
    name: "mysql",
    url: inDatabase(through),
    async countOpen() {
      const [row]: { open: number }[] = await all(
        `SELECT COUNT(*) AS open FROM ${table("executions")} WHERE ended_at IS NULL AND deleted_at IS NULL`,
      );
      return row!.open;
    },
    async heldBy(owner) {
      const rows: { id: string; version: number }[] = await all(
        `SELECT id, version FROM ${table("executions")} WHERE owner = ? AND ended_at IS NULL`,
        [Buffer.from(owner)],
      );
      return rows.map(({ id, version }): Held => ({ workflowId: id, version }));
    },
    async readAll() {
      return storedOf({
        executions: await all(
          `SELECT seq, id, incarnation, definition, metadata, version, status, head, owner FROM ${table("executions")} ORDER BY seq`,
        ),
        events: await all(`SELECT execution, version, commit_id, event FROM ${table("events")} ORDER BY execution, version`),
        children: await all(`SELECT execution, name AS \`key\`, head FROM ${table("children")} ORDER BY execution, place`),
        definitions: await all(`SELECT name AS hash, body AS definition FROM ${table("records")} WHERE kind = 'definition'`),
      });
    },
    async drop() {
      await pool.query(`DROP DATABASE IF EXISTS ${database}`);
      await pool.end();
    },
  };
}

/** Converts a cell to text, because columns for text of users hold it as bytes. */
function textOf(cell: unknown): unknown {
  return cell instanceof Uint8Array ? Buffer.from(cell).toString("utf8") : cell;
}
