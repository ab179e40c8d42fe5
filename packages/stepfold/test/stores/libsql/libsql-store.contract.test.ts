import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@libsql/client";
import { afterAll } from "vitest";
import { hranaServer } from "../../../../../scripts/servers/hrana-server.ts";
import type { StandIn } from "../../../../../scripts/servers/stand-in.ts";
import { effort } from "../../../../../scripts/test/effort.ts";
import { libsqlStore } from "../../../src/stores/databases/libsql/index.ts";
import type { StoreBench } from "../../../src/testing/index.ts";
import { contractOf, wait } from "../../testing/store-contract.fixture.ts";
import { cuttableProxy } from "../cuttable-proxy.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-libsql-"));
const opened: { close(): unknown }[] = [];
afterAll(async () => {
  for (const one of opened.reverse()) await one.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Damages an execution through the client, as a person might do who edits the database. */
function damageBy(client: Client): (workflowId: string) => Promise<void> {
  return async (id) => {
    await client.execute("UPDATE executions SET head = '{' WHERE id = ?", [id]);
  };
}

/** A clock that moves only by `advance`. */
function ownClock(): { now(): number; advance(durationMs: number): Promise<void> } {
  let now = 1_000_000;
  return {
    now: () => now,
    advance: async (durationMs) => {
      now += durationMs;
    },
  };
}

/** A bench over a client. `another` makes the client of each further handle. */
function benchOf(client: Client, another: () => Client, clock?: ReturnType<typeof ownClock>): StoreBench {
  const over = (one: Client) => libsqlStore(one, { migrate: true, idempotencyRetentionMs: 1000, ...(clock && { now: clock.now }) });
  const open = async () => over(another());
  return { store: over(client), retentionMs: 1000, open, advance: clock?.advance ?? wait, damage: damageBy(client) };
}

function connect(url: string): Client {
  const authToken = process.env.STEPFOLD_LIBSQL_TOKEN;
  const client = createClient({ url, ...(authToken && { authToken }) });
  opened.push(client);
  return client;
}

async function fileBench(index: number): Promise<StoreBench> {
  const address = `file:${join(folder, `${index}.db`)}`;
  return benchOf(connect(address), () => connect(address), ownClock());
}

/** A bench on a database in memory, with the clock of the database. */
async function memoryBench(): Promise<StoreBench> {
  const client = connect(":memory:");
  return benchOf(client, () => client);
}

/** A bench on a new server, behind a proxy whose connections can be cut. */
async function standInBench(index: number): Promise<StoreBench> {
  const server: StandIn = await hranaServer({ path: join(folder, `remote-${index}.db`) });
  const proxy = await cuttableProxy(server.url);
  opened.push(server, proxy);
  const bench = benchOf(connect(proxy.url), () => connect(proxy.url), ownClock());
  return { ...bench, cut: async () => proxy.cut() };
}

/** A bench on a real server, with the clock of the server. The server has one database, which is emptied before each case. */
async function realBench(): Promise<StoreBench> {
  const client = connect(url);
  const bench = benchOf(client, () => connect(url));
  await bench.store.load("nothing");
  const tables = ["events", "children", "executions", "records"];
  await client.batch(
    tables.map((table) => `DELETE FROM ${table}`),
    "write",
  );
  return bench;
}

const url = process.env.STEPFOLD_LIBSQL_URL ?? "";

contractOf("libsql", { over: "a file", bench: fileBench });
if (effort.everyStore) {
  contractOf("libsql", { over: "memory, by the database's clock", isOtherForm: true, atOnce: 4, bench: memoryBench });
  contractOf("libsql", { over: "HTTP to the stand-in for sqld", bench: standInBench });
}
if (url !== "") contractOf("libsql", { over: "the server at STEPFOLD_LIBSQL_URL", bench: realBench });
