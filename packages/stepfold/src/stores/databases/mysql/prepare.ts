import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { layoutOf, migrateMysql } from "./migrations.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { newestLayout } from "./mysql-schema.ts";
import { connected, numberOf } from "./mysql-session.ts";
import type { Tables } from "./tables.ts";

/** What a store must know of its server. */
export interface Prepared {
  /** Of the values of one statement. */
  readonly maxBytes: number;
}

/** What a statement is made of beside its values: names, places, the bytes before each value. */
const overheadBytes = 128 * 1024;

/**
 * Looks once whether the tables are there and how large a statement may be; after a failure again.
 *
 * @param migrated prefix of tables that are to be made; null if they must be there
 * @param maxValueBytes two values of this size must fit into a statement: a new execution has its head and its metadata in one row
 */
export function prepared(pool: MysqlPool, tables: Tables, migrated: string | null, maxValueBytes: number): () => Promise<Prepared> {
  let preparing: Promise<Prepared> | null = null;
  return () => {
    preparing ??= prepare(pool, tables, migrated, maxValueBytes).catch((cause: unknown) => {
      preparing = null;
      throw cause;
    });
    return preparing;
  };
}

async function prepare(pool: MysqlPool, tables: Tables, migrated: string | null, maxValueBytes: number): Promise<Prepared> {
  if (migrated !== null) await migrateMysql(pool, { prefix: migrated });
  return connected(pool, async (session) => {
    const layout = await layoutOf(session, tables);
    if (layout < newestLayout) {
      const state = layout === 0 ? "the tables are missing" : `the tables have the old layout ${layout}`;
      const reason = `${state}: run \`stepfold migrate --store URL\`, call migrateMysql(pool), or pass migrate: true`;
      throw new StepfoldError("STORE_REJECTED", { store: "mysql", reason });
    }
    const [row] = await session.rows("SELECT @@max_allowed_packet");
    const maxPacket = numberOf(row![0]);
    const needed = 2 * maxValueBytes + overheadBytes;
    if (maxPacket < needed) {
      const reason = `max_allowed_packet of the server is ${maxPacket}: raise it to ${needed}, or lower maxValueBytes`;
      throw new StepfoldError("STORE_REJECTED", { store: "mysql", reason });
    }
    return { maxBytes: maxPacket - overheadBytes };
  });
}
