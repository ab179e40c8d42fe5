import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { type OwnTransactionBench, ownTransactionCases, within, worker } from "./own-transaction.fixture.ts";

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-own-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "app.db");
}

async function open(): Promise<OwnTransactionBench> {
  const path = newPath();
  // a worker in the same process must not block the thread while the transaction is open
  const store = sqliteStore(path, { busyTimeoutMs: 10 });
  onTestFinished(() => store.close());
  const program = new DatabaseSync(path);
  program.exec("CREATE TABLE notes (note TEXT NOT NULL) STRICT");
  onTestFinished(() => program.close());
  return {
    store,
    async begin() {
      const own = new DatabaseSync(path);
      own.exec("BEGIN IMMEDIATE");
      return {
        store: sqliteStore(own),
        insert: async (note) => void own.prepare("INSERT INTO notes VALUES (?)").run(note),
        async end(how) {
          own.exec(how);
          own.close();
        },
      };
    },
    notes: async () =>
      program
        .prepare("SELECT note FROM notes ORDER BY note")
        .all()
        .map((row) => row.note as string),
  };
}

ownTransactionCases("SQLite", true, open);

describe("a store over an open database of node:sqlite", () => {
  it("creates its tables in the transaction, and leaves the database open", async () => {
    const database = new DatabaseSync(":memory:");
    database.exec("BEGIN");
    await sqliteStore(database).close();
    database.exec("ROLLBACK");
    const tables = (): unknown[] => database.prepare("SELECT name FROM sqlite_master").all();
    expect(tables()).toEqual([]);
    const store = sqliteStore(database);
    expect(store.features).toMatchObject({ durable: false, multiProcess: false });
    expect(await (await worker({ store }).start("note", { input: 7 })).result()).toBe(7);
    await store.close();
    expect(tables().length).toBeGreaterThan(4);
    database.close();
  });

  it("undoes only its own work if that fails", async () => {
    const database = new DatabaseSync(newPath());
    database.exec("CREATE TABLE notes (note TEXT)");
    const store = sqliteStore(database);
    database.exec("CREATE TRIGGER broken BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no'); END");
    database.exec("BEGIN IMMEDIATE");
    database.exec("INSERT INTO notes VALUES ('kept')");
    await expect(within({ store }).start("note", { workflowId: "a" })).rejects.toMatchObject({ code: "STORE_REJECTED" });
    database.exec("COMMIT");
    expect(database.prepare("SELECT note FROM notes").all()).toEqual([{ note: "kept" }]);
    expect(database.prepare("SELECT id FROM executions").all()).toEqual([]);
    database.close();
  });

  it("takes no settings of the connection, and no other object", () => {
    const database = new DatabaseSync(":memory:");
    for (const options of [{ synchronous: "NORMAL" }, { busyTimeoutMs: 1 }] as const)
      expect(() => sqliteStore(database, options)).toThrow("is a setting of the database that you have opened");
    expect(() => sqliteStore({} as DatabaseSync)).toThrow("a path, or a DatabaseSync of node:sqlite");
    database.close();
  });
});
