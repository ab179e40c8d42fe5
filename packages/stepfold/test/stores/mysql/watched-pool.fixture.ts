import type { MysqlPool, MysqlStatement } from "../../../src/stores/databases/mysql/mysql-client.ts";

/** What went over a pool. */
export interface Watched {
  readonly pool: MysqlPool;
  /** Texts of statements, in order. */
  readonly texts: string[];
  /** Bytes of the values that were bound. */
  bytes: number;
  /** Connections that were taken and not given back. */
  open: number;
}

/** A pool that tells what goes over it. `fail` may throw in place of a statement. */
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
