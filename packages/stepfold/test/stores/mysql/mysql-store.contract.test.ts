import { afterAll } from "vitest";
import { serviceUrl } from "../../../../../scripts/servers/service-url.ts";
import { contractOf } from "../../testing/store-contract.fixture.ts";
import { hostileOptions, hostileSettings, type MysqlServer, mysqlServer } from "./mysql-bench.fixture.ts";

const servers: MysqlServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

/** Runs the contract with hostile options and settings, and, as another form, with normal ones, which all other tests here have too. */
async function subject(name: string, over: string, url: string | null, missing: string): Promise<void> {
  const server = url === null ? null : await mysqlServer(url);
  if (server) servers.push(server);
  const gate = { url, missing, atOnce: 8 };
  contractOf(name, { ...gate, over, isOtherForm: true, bench: () => server!.bench() });
  contractOf(name, {
    ...gate,
    over: `${over}, hostile settings`,
    bench: (index) => server!.bench(hostileOptions, hostileSettings(index)),
  });
}

await subject("mariadb", "MariaDB through mysql2", await serviceUrl("mariadb"), "scripts/services up mariadb");
const mysql8 = process.env.STEPFOLD_MYSQL8_URL;
if (mysql8) await subject("mysql", "MySQL 8 through mysql2", mysql8, "set STEPFOLD_MYSQL8_URL");
