import type { MysqlPool } from "../mysql/mysql-client.ts";
import { importDriver } from "./import-driver.ts";
import { type Site, takeParameter } from "./site.ts";

interface Driver {
  readonly createPool: (config: { uri: string; connectionLimit: number }) => MysqlPool & { end(): Promise<void> };
}

/** `mysql://user:password@host:port/database?prefix=stepfold_&pool=10`, with `mysql2`. */
export async function connectMysql(text: string): Promise<Site> {
  const url = new URL(text.replace(/^mariadb:/, "mysql:"));
  const prefix = takeParameter(url, "prefix", "stepfold_");
  const connectionLimit = Number(takeParameter(url, "pool", "10"));
  const { mysqlMigrations } = await import("../mysql/migrations.ts");
  const { mysqlStore } = await import("../mysql/mysql-store.ts");
  const { createPool } = await importDriver<Driver>("mysql2/promise", "mysql");
  const pool = createPool({ uri: url.href, connectionLimit });
  return {
    name: "mysql",
    space: prefix,
    hasSpaces: true,
    open: async (space, options) => mysqlStore(pool, { ...options, prefix: space }),
    drop: (space) => dropTables(pool, space),
    migrations: async (space) => mysqlMigrations(space),
    close: () => pool.end(),
  };
}

async function dropTables(pool: MysqlPool, prefix: string): Promise<void> {
  const connection = await pool.getConnection();
  try {
    const pattern = prefix.replaceAll("_", "\\_");
    const [found] = await connection.query(
      `SELECT CONCAT(IF(table_type = 'VIEW', 'VIEW', 'TABLE'), ' \`', table_name, '\`') AS target FROM information_schema.tables
       WHERE table_schema = DATABASE() AND table_name LIKE '${pattern}%' ORDER BY table_type DESC`,
    );
    for (const { target } of found as { target: string }[]) await connection.query(`DROP ${target}`);
  } finally {
    connection.release();
  }
}
