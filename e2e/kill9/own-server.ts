import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { accountOf, findProgram, runToEnd } from "../../scripts/servers/system.ts";
import { until } from "./fleet.ts";

/** A database server that one test starts for itself. */
export interface OwnServer {
  readonly url: string;
  /** Ends the server at once, without a shutdown, and starts it again. Resolves when the server answers. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** How a server is started, ended and pinged. */
interface Recipe {
  readonly program: string;
  readonly args: readonly string[];
  /** The account under which the server runs. Absent: that of the test. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  readonly folder: string;
  readonly url: string;
  /** The signal that ends the server at once. */
  readonly signal: NodeJS.Signals;
  ping(): Promise<void>;
}

/** Starts a PostgreSQL with its data in a folder. Returns null if PostgreSQL is not installed. */
export async function ownPostgres(folder: string): Promise<OwnServer | null> {
  const versions = "/usr/lib/postgresql";
  const folders = existsSync(versions) ? readdirSync(versions).map((version) => join(versions, version, "bin")) : [];
  const [initdb, program] = [findProgram("initdb", ...folders), findProgram("postgres", ...folders)];
  if (!initdb || !program) return null;
  const user = accountOf("postgres");
  const data = join(folder, "postgres");
  // the account of the server must be able to reach its data
  chmodSync(folder, 0o755);
  mkdirSync(data, { mode: 0o700 });
  if (user) chownSync(data, user.uid, user.gid);
  await runToEnd(initdb, ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"], user);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=60"];
  const ping = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on("error", () => undefined);
    await client.connect();
    await client.end();
  };
  // SIGQUIT is `pg_ctl stop -m immediate`: the server writes nothing more, and recovers from its log at the next start
  const args = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])];
  return started({ program, args, user, folder: data, url, signal: "SIGQUIT", ping });
}

/** Starts a Redis that writes every command to its disk before it answers. Returns null if Redis is not installed. */
export function ownRedis(folder: string): Promise<OwnServer | null> {
  return redisWith(folder, ["--appendonly", "yes", "--appendfsync", "always"]);
}

/** Starts a Redis that keeps its data in memory only, so that the data is gone when the server ends. */
export function forgetfulRedis(folder: string): Promise<OwnServer | null> {
  return redisWith(folder, ["--appendonly", "no"]);
}

async function redisWith(folder: string, persistence: readonly string[]): Promise<OwnServer | null> {
  const program = findProgram("redis-server");
  if (!program) return null;
  const data = join(folder, "redis");
  mkdirSync(data);
  const port = await freePort();
  const ping = async (): Promise<void> => {
    const client = new Redis({ host: "127.0.0.1", port, lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => undefined);
    await client.connect();
    await client.ping();
    client.disconnect();
  };
  const args = ["--bind", "127.0.0.1", "--port", String(port), "--dir", data, "--save", "", ...persistence];
  return started({ program, args, folder: data, url: `redis://127.0.0.1:${port}`, signal: "SIGKILL", ping });
}

async function started({ program, args, user, folder, url, signal, ping }: Recipe): Promise<OwnServer> {
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    child = spawn(program, args, { cwd: folder, stdio: "ignore", ...user });
    await until(`${program} answers`, 60_000, async () =>
      ping().then(
        () => true,
        () => false,
      ),
    );
  };
  const stop = async (): Promise<void> => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    url,
    async restart() {
      await stop();
      await start();
    },
    close: stop,
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
