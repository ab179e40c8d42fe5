import { Client } from "pg";
import postgres from "postgres";
import { afterAll, beforeAll } from "vitest";
import type { PostgresClient } from "../../../src/stores/databases/postgres/index.ts";
import { contractOf } from "../../testing/store-contract.fixture.ts";
import { benchesOver, poolOf, url } from "./postgres-bench.fixture.ts";

const admin = poolOf(2);
const client = new Client(url === null ? {} : { connectionString: url });
const overClient = benchesOver(client, admin);
beforeAll(async () => {
  if (url !== null) await client.connect();
});

// postgres.js on the same server, with its own pool
const sql = postgres(url ?? "", { max: 8, onnotice: () => undefined });
const wrapped: PostgresClient = { query: async (text, values) => ({ rows: await sql.unsafe(text, values as string[]) }) };
const overPostgresJs = benchesOver(wrapped, admin);

afterAll(async () => {
  if (url !== null) {
    await overClient.drop();
    await overPostgresJs.drop();
  }
  await admin.end();
  await client.end();
  await sql.end();
});

contractOf("postgres", { over: "pg Client", isOtherForm: true, url, atOnce: 4, bench: overClient.bench });
contractOf("postgres", { over: "postgres.js", isOtherForm: true, url, atOnce: 4, bench: overPostgresJs.bench });
