import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { openDatabase } from "../../../src/stores/databases/sqlite/sqlite-client.ts";
import { connect } from "../../../src/stores/sqlite/connection.ts";
import { storeOver } from "../../../src/stores/sqlite/store-over.ts";
import { startCommit } from "../../../src/testing/index.ts";
import { expectEachKeyItsTurn, expectLimits, expectNoReturn, permitted } from "./permits.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A store, its connection, and the names of its statements as they are run. */
function openInside() {
  const db = openDatabase(":memory:", { synchronous: "NORMAL", busyTimeoutMs: 20 });
  const connection = connect(db, () => 1_000_000, 1000);
  const names: string[] = [];
  const sql = Object.fromEntries(
    Object.entries(connection.sql).map(([name, statement]) => {
      const watch =
        (method: "get" | "all" | "run") =>
        (...values: never[]) => {
          names.push(name);
          return statement[method](...values);
        };
      return [name, { get: watch("get"), all: watch("all"), run: watch("run") }];
    }),
  ) as unknown as typeof connection.sql;
  return { db, connection, names, store: storeOver({ ...connection, sql }, false) };
}

const lease = { owner: "worker", leaseMs: 60_000 };

describe("taking turns in SQLite", () => {
  it("lets nobody back whose place was given to another one", async () => {
    let now = 1_000_000;
    const store = sqliteStore(":memory:", { now: () => now });
    await expectNoReturn(store, async (durationMs) => {
      now += durationMs;
    });
    await store.close();
  });

  it("gives each key its turn behind many that wait for one", async () => {
    const store = sqliteStore(":memory:");
    await expectEachKeyItsTurn(store);
    await store.close();
  });

  it("never holds more than may be, however many claim over several connections", async () => {
    const stores = [0, 1, 2].map(() => sqliteStore(join(folder, "limits.db"), { synchronous: "NORMAL" }));
    await expectLimits(stores);
    for (const store of stores) await store.close();
  });

  it("takes a permit from nobody who has it by bringing an older file up to date", async () => {
    const path = join(folder, "older.db");
    const made = sqliteStore(path);
    await made.create(startCommit("plain"));
    await made.close();
    const db = new DatabaseSync(path);
    db.exec(`
      DROP INDEX executions_due; DROP INDEX executions_waiting; DROP INDEX executions_held;
      CREATE INDEX executions_due ON executions (due_at) WHERE due_at IS NOT NULL;
      ALTER TABLE executions DROP COLUMN permit_key; ALTER TABLE executions DROP COLUMN permit_limit;
      PRAGMA user_version = 3`);
    db.close();
    const store = sqliteStore(path);
    await store.create(permitted("a", "x"));
    await store.create(permitted("b", "x"));
    expect((await store.claim({ ...lease, limit: 10 })).map(({ claim }) => claim.workflowId)).toEqual(["plain", "a"]);
    await store.close();
  });
});

describe("what taking turns costs in SQLite", () => {
  it("is one look more where nobody does", async () => {
    const { store, names } = openInside();
    expect(await store.claim({ ...lease, limit: 10 })).toEqual([]);
    expect(names).toEqual(["due", "waiting"]);
    await store.create(startCommit("a"));
    names.length = 0;
    await store.claim({ ...lease, limit: 1 });
    expect(names).toEqual(["due", "begin", "due", "waiting", "take", "history", "children", "commit"]);
    await store.close();
  });

  it("is little where thousands wait and thousands sleep", async () => {
    const { store, db, names } = openInside();
    await store.create(permitted("held", "k"));
    await store.claim({ ...lease, limit: 1 });
    db.exec(`
      INSERT INTO executions (id, incarnation, definition_id, definition, metadata, version, status, head, fence, created_at, updated_at,
        wake_at, due_at, permit_key, permit_limit)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 40000)
      SELECT 'id-' || n, 'i', 'd', '{}', '{}', 0, 'paused', '{}', 0, n, n, n, iif(n % 2, n, 9e14), iif(n % 2, 'k', 'key-' || n), 1 FROM numbers`);
    await store.create(permitted("free", "z"));
    names.length = 0;
    expect((await store.claim({ ...lease, limit: 1 })).map(({ claim }) => claim.workflowId)).toEqual(["free"]);
    // two walks, one of them in the transaction: those of one key that wait are passed over as a whole
    expect(names.filter((name) => name.startsWith("waiting")).length).toBeLessThanOrEqual(8);
    names.length = 0;
    expect(await store.claim({ ...lease, limit: 1 })).toEqual([]);
    expect(names).not.toContain("begin");
    expect(names.length).toBeLessThanOrEqual(6);
    await store.close();
  });

  it("reads indexes, and sorts nothing that waits", async () => {
    const { connection, db, store } = openInside();
    const planOf = (name: "waiting" | "waitingAfter" | "waitingFor" | "turns" | "lapse"): string =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${connection.sql[name].sourceSQL}`)
        .all()
        .map(({ detail }) => detail)
        .join("\n");
    const held = "SEARCH held USING COVERING INDEX executions_held (permit_key=? AND lease_until>?)";
    for (const name of ["waiting", "waitingAfter", "waitingFor"] as const) {
      expect(planOf(name)).toContain(held);
      expect(planOf(name)).not.toMatch(/SCAN|TEMP B-TREE/);
    }
    expect(planOf("turns")).toContain("SEARCH executions USING COVERING INDEX executions_due (permit_key=? AND due_at>? AND due_at<?)");
    expect(planOf("turns")).not.toMatch(/SCAN (executions|waiting)/);
    expect(planOf("lapse")).toContain("executions_held (permit_key=? AND lease_until<?)");
    await store.close();
  });
});
