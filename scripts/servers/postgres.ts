import { chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { pingTimeoutMs, type Service } from "./service.ts";
import { accountOf, findProgram, runToEnd } from "./system.ts";

export const postgres: Service = {
  name: "postgres",
  urlVariable: "STEPFOLD_POSTGRES_URL",
  portVariable: "STEPFOLD_POSTGRES_PORT",
  standardPort: 5432,
  url: (port) => urlOf(port, "test"),
  ping: (url) => run(url, "select 1"),
  missing: () => (findServer("postgres") ? undefined : { debianPackages: ["postgresql"] }),

  async prepare(folder, port) {
    const data = join(folder, "data");
    const user = accountOf("postgres");
    if (!existsSync(join(data, "PG_VERSION"))) {
      mkdirSync(data, { recursive: true, mode: 0o700 });
      if (user) chownSync(data, user.uid, user.gid);
      await runToEnd(findServer("initdb")!, ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"], user);
    }
    // Without fsync everything is faster, and test data need not survive a crash of the machine.
    const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "full_page_writes=off"];
    return {
      program: findServer("postgres")!,
      args: ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
      ...(user && { user }),
      // SIGINT is the fast shutdown; SIGTERM would wait for the clients to disconnect.
      stopSignal: "SIGINT",
    };
  },

  async populate(port) {
    await run(urlOf(port, "postgres"), "create database test").catch((error: { code?: string }) => {
      const alreadyExists = "42P04";
      if (error.code !== alreadyExists) throw error;
    });
  },
};

function urlOf(port: number, database: string): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}`;
}

async function run(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: pingTimeoutMs, query_timeout: 10 * pingTimeoutMs });
  // The pending call reports a broken connection; without this listener the error would also end the process.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    client.end().catch(() => undefined);
  }
}

/** Finds a program of the newest installed version. Debian has a folder for each version. */
function findServer(name: string): string | undefined {
  const folder = "/usr/lib/postgresql";
  const versions = existsSync(folder) ? readdirSync(folder).sort((one, other) => Number(other) - Number(one)) : [];
  return findProgram(name, ...versions.map((version) => join(folder, version, "bin")));
}
