import { createPool as createCallbackPool } from "mysql2";
import { createPool } from "mysql2/promise";
import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { mysqlMigrations, mysqlStore } from "../../../src/stores/databases/mysql/index.ts";
import type { MysqlPool } from "../../../src/stores/databases/mysql/mysql-client.ts";
import { mysqlError } from "../../../src/stores/databases/mysql/mysql-error.ts";
import { onConnection } from "../../../src/stores/databases/mysql/mysql-session.ts";
import { watched } from "./watched-pool.fixture.ts";

/** A pool whose server answers every statement with an empty result. */
const silent: MysqlPool = {
  getConnection: async () => ({ execute: async () => [[]], query: async () => [[]], release: () => undefined, destroy: () => undefined }),
};

describe("opening a MySQL store", () => {
  it("says what kind of pool it takes", () => {
    const pool = createCallbackPool({ host: "127.0.0.1", port: 1 });
    for (const wrong of [pool, {}, null, undefined, "mysql://root@127.0.0.1/test"]) {
      expect(() => mysqlStore(wrong as never)).toThrow(
        expect.objectContaining({ code: "OPTION_INVALID", details: expect.objectContaining({ option: "pool" }) }),
      );
    }
    expect(() => mysqlStore(pool as never)).toThrow("pool.promise()");
    expect(mysqlStore(pool.promise()).name).toBe("mysql");
    pool.end();
  });

  it("takes a prefix that is part of a name, and nothing else", () => {
    for (const prefix of ["a-b", "a.b", "`", "a b", "é", "x".repeat(45), "'; DROP TABLE x; --"]) {
      expect(() => mysqlStore(silent, { prefix })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
      expect(() => mysqlMigrations(prefix)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    }
    const longest = mysqlMigrations("x".repeat(44)).join("\n");
    for (const [, name] of longest.matchAll(/`([^`]+)`/g)) expect(name!.length).toBeLessThanOrEqual(64);
    expect(mysqlMigrations("").join()).toContain("CREATE TABLE IF NOT EXISTS `executions`");
    expect(mysqlMigrations().join()).toContain("VIEW `stepfold_workflow_executions`");
  });

  it("reports a server that is away as unavailable, without the password", async () => {
    const pool = createPool({ uri: "mysql://root:very-secret@127.0.0.1:1/test" });
    const store = mysqlStore(pool, { migrate: true });
    const error = await store.load("a").catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true, cause: expect.any(Error) });
    expect(JSON.stringify(error)).not.toContain("secret");
    await store.close();
    await pool.end();
    await expect(mysqlStore(pool).load("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("refuses ids that a column would cut off", async () => {
    const store = mysqlStore(silent);
    const long = "😀".repeat(256);
    await expect(store.putDefinition(long, { id: "a", nodes: [], edges: [] })).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  });
});

describe("errors of MySQL", () => {
  const failure = (errno: number, code: string): Error => Object.assign(new Error(`Duplicate entry 's3cret' for key`), { errno, code });

  it("are unavailable if the same call may succeed later", () => {
    const passing: [number, string][] = [
      [1213, "ER_LOCK_DEADLOCK"],
      [1205, "ER_LOCK_WAIT_TIMEOUT"],
      [1040, "ER_CON_COUNT_ERROR"],
      [1053, "ER_SERVER_SHUTDOWN"],
      [1290, "ER_OPTION_PREVENTS_STATEMENT"],
      [1317, "ER_QUERY_INTERRUPTED"],
      [1927, "ER_CONNECTION_KILLED"],
      [1047, "ER_UNKNOWN_COM_ERROR"],
      [-111, "ECONNREFUSED"],
      [-104, "ECONNRESET"],
      [0, "PROTOCOL_CONNECTION_LOST"],
      [0, "PROTOCOL_SEQUENCE_TIMEOUT"],
    ];
    for (const [errno, code] of passing)
      expect(mysqlError(failure(errno, code)), code).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
    for (const message of ["Pool is closed.", "No connections available.", "Queue limit reached."]) {
      expect(mysqlError(new Error(message)), message).toMatchObject({ code: "STORE_UNAVAILABLE" });
    }
  });

  it("are rejections otherwise, say what to do, and never quote values", () => {
    const lasting: [number, string, string][] = [
      [1062, "ER_DUP_ENTRY", "ER_DUP_ENTRY"],
      [1146, "ER_NO_SUCH_TABLE", "stepfold migrate"],
      [1045, "ER_ACCESS_DENIED_ERROR", "password"],
      [1153, "ER_NET_PACKET_TOO_LARGE", "max_allowed_packet"],
      [1665, "ER_BINLOG_STMT_MODE_AND_ROW_ENGINE", "binlog_format"],
    ];
    for (const [errno, code, advice] of lasting) {
      const error = mysqlError(failure(errno, code));
      expect(error, code).toMatchObject({ code: "STORE_REJECTED", retryable: false });
      expect(error.message).toContain(advice);
      expect(error.message).not.toContain("s3cret");
    }
    expect(mysqlError(new TypeError("x"))).toMatchObject({ code: "STORE_REJECTED" });
    expect(mysqlError(null)).toMatchObject({ code: "STORE_REJECTED" });
    const ours = new StepfoldError("FENCE_LOST", { workflowId: "a" });
    expect(mysqlError(ours)).toBe(ours);
  });

  it("that mean another transaction was in the way are tried again at once, a few times", async () => {
    for (const [failures, attempts] of [
      [1, 2],
      [7, 8],
      [20, 8],
    ] as const) {
      let left = failures as number;
      const seen = watched(silent, (text) => {
        if (text.includes("COMMIT") && left-- > 0) throw failure(1213, "ER_LOCK_DEADLOCK");
      });
      let made = 0;
      const done = onConnection(seen.pool, "updateById", async () => ++made);
      if (failures < 8) expect(await done).toBe(attempts);
      else await expect(done).rejects.toMatchObject({ errno: 1213 });
      expect(made).toBe(attempts);
      expect(seen.texts.filter((text) => text === "ROLLBACK").length).toBe(Math.min(failures, 8));
      expect(seen.open).toBe(0);
    }
  });

  it("leave no connection behind, also when nothing can be rolled back any more", async () => {
    const seen = watched(silent, (text) => {
      if (text.includes("COMMIT") || text === "ROLLBACK") throw failure(0, "PROTOCOL_CONNECTION_LOST");
    });
    await expect(onConnection(seen.pool, "updateById", async () => 1)).rejects.toMatchObject({ code: "PROTOCOL_CONNECTION_LOST" });
    expect(seen.open).toBe(0);
  });
});
