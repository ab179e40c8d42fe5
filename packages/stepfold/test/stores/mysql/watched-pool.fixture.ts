import type { MysqlPool, MysqlStatement } from "../../../src/stores/databases/mysql/mysql-client.ts";

/** A pool with a record of its use. */
export interface Watched {
  readonly pool: MysqlPool;
  /** The texts of the statements, in order. */
  readonly texts: string[];
  /** The number of bytes of the bound values. */
  bytes: number;
  /** The number of connections that were taken and not given back. */
  open: number;
}

/** Wraps a pool and records its use. `fail` may throw in place of a statement. */
export function watched(pool: MysqlPool, fail: (text: string) => void = () => undefined): Watched {
  const seen: Watched = {
    texts: [],
    bytes: 0,
    open: 0,
    pool: {
      async getConnection() {
        const connection = await pool.getConnection();
        seen.open++;
        const see = (text: string): void => {
          seen.texts.push(text.trim());
          fail(text);
        };
        return {
          async execute(statement: MysqlStatement) {
            see(statement.sql);
            for (const value of statement.values) seen.bytes += value?.length ?? 0;
            return connection.execute(statement);
          },
          async query(text: string) {
            see(text);
            return connection.query(text);
          },
          release() {
            seen.open--;
            connection.release();
          },
          destroy() {
            seen.open--;
            connection.destroy();
          },
        };
      },
    },
  };
  return seen;
}
