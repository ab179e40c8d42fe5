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

/** What the store's own client breaks is what somebody may break who edits the database. */
function damageBy(client: Client): (workflowId: string) => Promise<void> {
  return async (id) => {
    await client.execute("UPDATE executions SET head = '{' WHERE id = ?", [id]);
  };
}

/** A clock that only moves when it is told to. */
function ownClock(): { now(): number; advance(durationMs: number): Promise<void> } {
  let now = 1_000_000;
  return {
    now: () => now,
    advance: async (durationMs) => {
      now += durationMs;
    },
  };
}

/** A handle is a store over a client; `another` gives one over another client. */
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

/** By the database's own clock. */
async function memoryBench(): Promise<StoreBench> {
  const client = connect(":memory:");
  return benchOf(client, () => client);
}

/** A server of its own for each case, with a proxy before it whose connections can be cut. */
async function standInBench(index: number): Promise<StoreBench> {
  const server: StandIn = await hranaServer({ path: join(folder, `remote-${index}.db`) });
  const proxy = await cuttableProxy(server.url);
  opened.push(server, proxy);
  const bench = benchOf(connect(proxy.url), () => connect(proxy.url), ownClock());
  return { ...bench, cut: async () => proxy.cut() };
}

/** A real server has one database: every case empties it first. By the server's clock. */
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
