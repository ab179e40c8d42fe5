import { PGlite } from "@electric-sql/pglite";
import postgres from "postgres";
import { afterAll, describe, expect, it } from "vitest";
import { migratePostgres, type PostgresClient, postgresBlobs, postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { blobbedStore } from "../../../src/stores/wrappers/blobs/blobbed-store.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { blobContractOf } from "../../testing/blob-contract.fixture.ts";
import { contractOf } from "../../testing/store-contract.fixture.ts";
import { benchesOver, newSchema, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(20);
const benches = benchesOver(pool);
const schemas: string[] = [];
const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
  await benches.drop();
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

function ownSchema(): string {
  schemas.push(newSchema());
  return schemas.at(-1)!;
}

/** A subject of the contract over this client, with a new schema for each case. */
function subject(client: PostgresClient) {
  const bench = async () => {
    const schema = ownSchema();
    await migratePostgres(client, { schema });
    return { blobs: postgresBlobs(client, { schema }), open: async () => postgresBlobs(client, { schema }) };
  };
  return { url, bench };
}

blobContractOf("postgres (pg Pool)", subject(pool));

if (url !== null) {
  const sql = postgres(url, { max: 4, onnotice: () => undefined });
  ends.push(() => sql.end());
  blobContractOf("postgres (postgres.js)", {
    ...subject({ query: async (text, values = []) => ({ rows: await sql.unsafe(text, values as string[]) }) }),
    isOtherForm: true,
  });
}

// awaited, because its start blocks this process for seconds, and a case that waits for an answer of the server could time out meanwhile
const lite = await PGlite.create();
ends.push(() => lite.close());
blobContractOf("postgres (PGlite)", {
  isOtherForm: true,
  async bench() {
    const schema = newSchema();
    await migratePostgres(lite, { schema });
    return { blobs: postgresBlobs(lite, { schema }), open: async () => postgresBlobs(lite, { schema }) };
  },
});

// the limit is low, so that most values of the cases become blobs
contractOf("blobbed", {
  over: "postgres with blobs in postgres",
  isOtherForm: true,
  url,
  atOnce: 8,
  async bench(index) {
    const bench = await benches.bench(index);
    const { schema } = bench;
    const wrap = (store: typeof bench.store) => blobbedStore(store, postgresBlobs(pool, { schema }), { aboveBytes: 8 });
    return { ...bench, store: wrap(bench.store), open: async () => wrap(await bench.open()) };
  },
});

describe.skipIf(url === null)("blobs in PostgreSQL", () => {
  it("lie in the schema of the executions, and go with them", async () => {
    const schema = ownSchema();
    const blobs = postgresBlobs(pool, { schema, migrate: true });
    const store = blobbedStore(postgresStore(pool, { schema, migrate: true }), blobs, { aboveBytes: 100 });
    const first = startCommit("a", { input: "x".repeat(1000) });
    const second = stepCommit(first, { output: "y".repeat(1000), status: "completed" });
    await store.create(first);
    await store.commit(second);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
    expect((await pool.query(`SELECT count(*)::int AS blobs FROM "${schema}".blobs`)).rows).not.toEqual([{ blobs: 0 }]);
    await store.delete("a");
    expect((await pool.query(`SELECT count(*)::int AS blobs FROM "${schema}".blobs`)).rows).toEqual([{ blobs: 0 }]);
    await store.close();
  });

  it("are written by the clock of the server", async () => {
    const schema = ownSchema();
    const blobs = postgresBlobs(pool, { schema, migrate: true });
    await blobs.put("a/b", new Uint8Array([1]));
    const { rows } = await pool.query("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now");
    for await (const { writtenAt } of blobs.list()) expect(Math.abs(writtenAt - rows[0].now)).toBeLessThan(60_000);
  });

  it("are out of reach without the server, and refuse what is too large or no key before it is asked", async () => {
    const away = postgresBlobs({ query: () => Promise.reject(Object.assign(new Error("no route"), { code: "ECONNREFUSED" })) });
    await expect(away.get("a/b")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    // the array is never written to, so it takes no memory
    const tooLarge = away.put("a/b", new Uint8Array(2 ** 28 + 1));
    await expect(tooLarge).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", details: { actual: 2 ** 28 + 1, max: 2 ** 28 } });
    await expect(away.put("a'b", new Uint8Array(1))).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect(() => postgresBlobs(pool, { schema: 'a"b' })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});
