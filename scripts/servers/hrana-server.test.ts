import { type Client, createClient } from "@libsql/client";
import { afterEach, describe, expect, it } from "vitest";
import { hranaServer } from "./hrana-server.ts";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options?: { streamTimeoutMs?: number }): Promise<{ client: Client; url: string }> {
  const { url, close } = await hranaServer(options);
  cleanups.push(close);
  return { client: connect(url), url };
}

function connect(url: string): Client {
  const client = createClient({ url });
  cleanups.push(() => client.close());
  return client;
}

async function post(url: string, body: object): Promise<Response> {
  return fetch(`${url}/v3/pipeline`, { method: "POST", body: JSON.stringify(body) });
}

describe("the stand-in for a libSQL server", () => {
  it("gives back every type of value, by position and by name", async () => {
    const { client } = await start();
    const blob = new Uint8Array([0, 1, 255]);
    const { rows, columns } = await client.execute({
      sql: "select ? as n, ? as i, ? as f, ? as t, ? as b, typeof(?) as type",
      args: [null, 7n, 1.5, "ä", blob, 1],
    });
    expect(columns).toEqual(["n", "i", "f", "t", "b", "type"]);
    expect({ ...rows[0], b: new Uint8Array(rows[0]?.b as ArrayBuffer) }).toMatchObject({
      n: null,
      i: 7,
      f: 1.5,
      t: "ä",
      b: blob,
      type: "real",
    });
    const named = await client.execute({ sql: "select :a || @b || $a as joined", args: { a: "x", b: "y" } });
    expect(named.rows[0]?.joined).toBe("xyx");
  });

  it("counts what a statement changed, and nothing for one that only reads", async () => {
    const { client } = await start();
    await client.execute("create table t (id integer primary key, v)");
    const inserted = await client.execute("insert into t (v) values (1), (2), (3)");
    expect([inserted.rowsAffected, inserted.lastInsertRowid]).toEqual([3, 3n]);
    expect((await client.execute("update t set v = 0 where id > 1 returning id")).rowsAffected).toBe(2);
    expect((await client.execute("select * from t")).rowsAffected).toBe(0);
    expect((await client.execute("update t set v = 0 where id > 9")).rowsAffected).toBe(0);
  });

  it("has one winner among 50 who compare and set", async () => {
    const { client, url } = await start();
    await client.execute("create table t (id text primary key, version integer) strict");
    await client.execute("insert into t values ('a', 1)");
    const clients = [client, connect(url), connect(url)];
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        clients[index % 3]!.execute("update t set version = version + 1 where id = 'a' and version = 1"),
      ),
    );
    expect(results.map(({ rowsAffected }) => rowsAffected).filter((count) => count === 1)).toHaveLength(1);
    expect((await client.execute("select version from t")).rows[0]?.version).toBe(2);
  });

  it("undoes a batch of which one statement fails, and names the constraint", async () => {
    const { client } = await start();
    await client.executeMultiple("create table t (id text primary key, v text unique); insert into t values ('a', 'x');");
    await expect(client.execute("insert into t values ('a', 'y')")).rejects.toMatchObject({ code: "SQLITE_CONSTRAINT_PRIMARYKEY" });
    const batch = client.batch(["insert into t values ('b', 'y')", "insert into t values ('c', 'x')"], "write");
    await expect(batch).rejects.toMatchObject({ code: "SQLITE_CONSTRAINT_UNIQUE", statementIndex: 1 });
    expect((await client.execute("select id from t")).rows).toHaveLength(1);
    await expect(client.execute("select")).rejects.toMatchObject({ code: "SQLITE_ERROR" });
  });

  it("lets interactive transactions wait for each other, commit and roll back", async () => {
    const { client } = await start();
    await client.executeMultiple("create table t (n integer); insert into t values (0);");
    const add = async (commit: boolean): Promise<void> => {
      const transaction = await client.transaction("write");
      const { rows } = await transaction.execute("select n from t");
      await transaction.execute({ sql: "update t set n = ?", args: [Number(rows[0]?.n) + 1] });
      await (commit ? transaction.commit() : transaction.rollback());
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => add(index % 2 === 0)));
    expect((await client.execute("select n from t")).rows[0]?.n).toBe(10);
  });

  it("shows nothing of a transaction before its commit", async () => {
    const { client } = await start();
    await client.execute("create table t (n integer)");
    const transaction = await client.transaction("write");
    await transaction.execute("insert into t values (1)");
    expect((await client.execute("select * from t")).rows).toHaveLength(0);
    await transaction.commit();
    expect((await client.execute("select * from t")).rows).toHaveLength(1);
  });

  it("says that the database is busy to whoever waits too long for a transaction", async () => {
    const { client, url } = await start({ streamTimeoutMs: 1_000 });
    await client.execute("create table t (n integer)");
    const hold = { requests: [{ type: "execute", stmt: { sql: "begin immediate" } }] };
    let { baton } = (await (await post(url, hold)).json()) as { baton: string };
    const waiting = client.execute("insert into t values (1)").catch((error: { code: string }) => error.code);
    let code: unknown;
    waiting.then((result) => {
      code = result;
    });
    while (code === undefined) ({ baton } = (await (await post(url, { baton, requests: [] })).json()) as { baton: string });
    expect(code).toBe("SQLITE_BUSY");
  });

  it("rolls back the transaction of a client that went away", async () => {
    const { client, url } = await start({ streamTimeoutMs: 40 });
    await client.execute("create table t (n integer)");
    const left = { requests: ["begin immediate", "insert into t values (1)"].map((sql) => ({ type: "execute", stmt: { sql } })) };
    const { baton } = (await (await post(url, left)).json()) as { baton: string };
    const waiting = connect(url);
    while (
      !(await waiting.execute("insert into t values (2)").then(
        () => true,
        () => false,
      ))
    );
    expect((await client.execute("select n from t")).rows.map(({ n }) => n)).toEqual([2]);
    const late = await post(url, { baton, requests: [] });
    expect([late.status, await late.json()]).toEqual([400, { message: "The stream has expired", code: "STREAM_EXPIRED" }]);
  });

  it("describes statements and says whether a transaction is open", async () => {
    const { url } = await start();
    const requests = [
      { type: "sequence", sql: "create table t (n integer); begin; select 1" },
      { type: "get_autocommit" },
      { type: "store_sql", sql_id: 1, sql: "insert into t values (:n) returning n" },
      { type: "describe", sql_id: 1 },
      { type: "describe", sql: "select ?, n from t" },
      { type: "nonsense" },
      { type: "close" },
    ];
    const { baton, results } = (await (await post(url, { requests })).json()) as {
      baton: null;
      results: { type: string; response: object }[];
    };
    expect(baton).toBe(null);
    expect(results.map(({ type }) => type)).toEqual(["ok", "ok", "ok", "ok", "ok", "error", "ok"]);
    expect(results[1]?.response).toEqual({ type: "get_autocommit", is_autocommit: false });
    expect(results[3]?.response).toMatchObject({ result: { params: [{ name: ":n" }], cols: [{ name: "n" }], is_readonly: false } });
    expect(results[4]?.response).toMatchObject({ result: { params: [{ name: null }], is_readonly: true, is_explain: false } });
  });
});
