import { chownSync, existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import { pingTimeoutMs, type Service } from "./service.ts";
import { accountOf, findProgram, runToEnd } from "./system.ts";

export const mariadb: Service = {
  name: "mariadb",
  urlVariable: "STEPFOLD_MYSQL_URL",
  portVariable: "STEPFOLD_MYSQL_PORT",
  standardPort: 3306,
  url: (port) => urlOf(port, "test"),
  ping: (url) => run(url, "select 1"),
  missing: () => (findProgram("mariadbd") ? undefined : { debianPackages: ["mariadb-server"] }),

  async prepare(folder, port) {
    const data = join(folder, "data");
    const user = accountOf("mysql");
    if (!existsSync(join(data, "mysql"))) {
      mkdirSync(data, { recursive: true });
      if (user) chownSync(data, user.uid, user.gid);
      // "normal": root may connect over TCP without a password, not only through the socket.
      const options = ["--no-defaults", `--datadir=${data}`, "--auth-root-authentication-method=normal", "--skip-test-db"];
      await runToEnd(findProgram("mariadb-install-db")!, [...options, ...(user ? ["--user=mysql"] : [])]);
    }
    return {
      program: findProgram("mariadbd")!,
      args: [
        "--no-defaults",
        `--datadir=${data}`,
        "--bind-address=127.0.0.1",
        `--port=${port}`,
        // The server needs a socket, and the path of a socket must be short.
        `--socket=${join(tmpdir(), `stepfold-mariadb-${port}.sock`)}`,
        "--skip-name-resolve",
        "--innodb-flush-log-at-trx-commit=0",
        ...(user ? ["--user=mysql"] : []),
      ],
      stopSignal: "SIGTERM",
    };
  },

  populate: (port) => run(urlOf(port, ""), "create database if not exists test"),
};

function urlOf(port: number, database: string): string {
  return `mysql://root@127.0.0.1:${port}/${database}`;
}

async function run(uri: string, sql: string): Promise<void> {
  const connection = await createConnection({ uri, connectTimeout: pingTimeoutMs });
  try {
    await connection.query({ sql, timeout: 10 * pingTimeoutMs });
  } finally {
    connection.destroy();
  }
}
