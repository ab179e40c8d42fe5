import type { RowDataPacket } from "mysql2/promise";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrl } from "../../../../../scripts/servers/service-url.ts";
import { migrateMysql, mysqlBlobs, mysqlStore } from "../../../src/stores/databases/mysql/index.ts";
import { blobbedStore } from "../../../src/stores/wrappers/blobs/blobbed-store.ts";
import { snapshotAfter, startCommit } from "../../../src/testing/index.ts";
import { blobContractOf } from "../../testing/blob-contract.fixture.ts";
import { hostileOptions, hostileSettings, mysqlServer } from "./mysql-bench.fixture.ts";
import { watched } from "./watched-pool.fixture.ts";

const url = await serviceUrl("mariadb");
const server = url === null ? null : await mysqlServer(url);
afterAll(() => server?.close());

blobContractOf("mysql (MariaDB through mysql2)", {
  url,
  async bench(index) {
    const pool = server!.pool({ connectionLimit: 4 });
    const open = () => mysqlBlobs(pool, { prefix: `case_${index}_`, migrate: true });
    return { blobs: open(), open: async () => open(), close: () => pool.end() };
  },
});

blobContractOf("mysql (MariaDB through mysql2, hostile settings)", {
  url,
  async bench(index) {
    const pool = server!.pool({ ...hostileOptions, connectionLimit: 4 });
    pool.on("connection", (connection) => {
      for (const setting of hostileSettings(index)) connection.query(setting);
    });
    const open = () => mysqlBlobs(pool, { prefix: `hostile_${index}_`, migrate: true });
    return { blobs: open(), open: async () => open(), close: () => pool.end() };
  },
});

describe.skipIf(!server)("blobs in MySQL", () => {
  it("lie beside the executions, and go with them", async () => {
    const pool = server!.pool();
    const blobs = mysqlBlobs(pool, { prefix: "shared_", migrate: true });
    const store = blobbedStore(mysqlStore(pool, { prefix: "shared_", migrate: true }), blobs, { aboveBytes: 100 });
    const first = startCommit("a", { input: "x".repeat(1000), status: "completed" });
    await store.create(first);
    expect(await store.load("a")).toEqual(snapshotAfter(first));
    const rows = async () => (await pool.query<RowDataPacket[]>("SELECT name FROM shared_blobs"))[0];
    expect(await rows()).toHaveLength(1);
    await store.delete("a");
    expect(await rows()).toHaveLength(0);
    await store.close();
  });

  it("are refused while the tables are missing, and work once they are made", async () => {
    const pool = server!.pool();
    const blobs = mysqlBlobs(pool, { prefix: "missing_" });
    const refused = { code: "STORE_REJECTED", message: expect.stringContaining("stepfold migrate") };
    await expect(blobs.put("a/b", new Uint8Array([1]))).rejects.toMatchObject(refused);
    await migrateMysql(pool, { prefix: "missing_" });
    await blobs.put("a/b", new Uint8Array([1]));
    expect(await blobs.get("a/b")).toEqual(new Uint8Array([1]));
  });

  it("refuse what no packet holds, with both sizes, and put what just fits", async () => {
    const pool = server!.pool();
    const [[row]] = await pool.query<RowDataPacket[]>("SELECT @@max_allowed_packet AS packet");
    const max = Number(row!.packet) - 128 * 1024;
    const blobs = mysqlBlobs(pool, { prefix: "limits_", migrate: true });
    const refused = { code: "LIMIT_EXCEEDED", details: { limit: "mysql blob in bytes", max, actual: max + 1 } };
    await expect(blobs.put("a/b", new Uint8Array(max + 1))).rejects.toMatchObject(refused);
    expect(await blobs.get("a/b")).toBeNull();
    const largest = new Uint8Array(max).fill(39);
    await blobs.put("a/b", largest);
    expect(Buffer.compare((await blobs.get("a/b"))!, largest)).toBe(0);
  });

  it("give their connections back, also when the server fails", async () => {
    const pool = server!.pool({ connectionLimit: 1 });
    const failing = { now: false };
    const under = watched(pool, (text) => {
      if (failing.now && /blobs/.test(text)) throw Object.assign(new Error("gone"), { code: "PROTOCOL_CONNECTION_LOST" });
    });
    const blobs = mysqlBlobs(under.pool, { prefix: "failing_", migrate: true });
    await blobs.put("a/b", new Uint8Array([1]));
    failing.now = true;
    const away = { code: "STORE_UNAVAILABLE" };
    await expect(blobs.put("a/b", new Uint8Array([1]))).rejects.toMatchObject(away);
    await expect(blobs.get("a/b")).rejects.toMatchObject(away);
    await expect(blobs.deleteFolder("a")).rejects.toMatchObject(away);
    await expect(blobs.list()[Symbol.asyncIterator]().next()).rejects.toMatchObject(away);
    failing.now = false;
    expect(await blobs.get("a/b")).toEqual(new Uint8Array([1]));
  });
});
