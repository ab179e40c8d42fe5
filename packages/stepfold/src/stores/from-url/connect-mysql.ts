import { parsedUrl, poolSize, takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { MysqlPool } from "../databases/mysql/mysql-client.ts";
import type { Site } from "./site.ts";

interface Driver {
  readonly createPool: (config: { uri: string; connectionLimit: number }) => MysqlPool & { end(): Promise<void> };
}

/** Connects to `mysql://user:password@host:port/database?prefix=stepfold_&pool=10` with `mysql2`. */
export async function connectMysql(text: string): Promise<Site> {
  const { url, taken } = takeParameters(text.replace(/^mariadb:/i, "mysql:"), { prefix: "stepfold_", pool: "10" });
  const connectionLimit = poolSize(taken.pool);
  parsedUrl(url);
  const { mysqlMigrations } = await import("../databases/mysql/mysql-schema.ts");
  const { mysqlStore } = await import("../databases/mysql/mysql-store.ts");
  const { createPool } = await importDriver<Driver>("mysql2/promise", "mysql");
  const pool = createPool({ uri: url, connectionLimit });
  return {
    name: "mysql",
    space: taken.prefix,
    hasSpaces: true,
    open: async (space, options) => mysqlStore(pool, { ...options, prefix: space }),
    drop: (space) => dropTables(pool, space),
    migrations: async (space) => mysqlMigrations(space),
    close: () => pool.end(),
  };
}

async function dropTables(pool: MysqlPool, prefix: string): Promise<void> {
  const { tablesOf } = await import("../databases/mysql/mysql-statement.ts");
  // compares whole names, because the name of another space may begin like this one
  const own = Object.values(tablesOf(prefix)).map((name) => name.replaceAll("`", "'"));
  const connection = await pool.getConnection();
  try {
    const [found] = await connection.query(
      `SELECT CONCAT(IF(table_type = 'VIEW', 'VIEW', 'TABLE'), ' \`', table_name, '\`') AS target FROM information_schema.tables
       WHERE table_schema = DATABASE() AND table_name IN (${own.join(", ")}) ORDER BY table_type DESC`,
    );
    for (const { target } of found as { target: string }[]) await connection.query(`DROP ${target}`);
  } finally {
    connection.release();
  }
}
