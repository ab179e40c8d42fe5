import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { sqliteBlobs, sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { blobbedStore } from "../../../src/stores/wrappers/blobs/blobbed-store.ts";
import { snapshotAfter, startCommit } from "../../../src/testing/index.ts";
import { blobContractOf } from "../../testing/blob-contract.fixture.ts";
import { testFolder } from "../values/wrapped-bench.fixture.ts";

const folder = testFolder("sqlite-blobs");

blobContractOf("sqlite (a file)", {
  async bench(index) {
    const open = () => sqliteBlobs(join(folder, `${index}.db`), { synchronous: "NORMAL" });
    return { blobs: open(), open: async () => open() };
  },
});

blobContractOf("sqlite (memory)", {
  async bench() {
    const blobs = sqliteBlobs(":memory:");
    return { blobs, open: async () => blobs };
  },
});

describe("blobs in SQLite", () => {
  it("lie in the file of the executions, and go with them", async () => {
    const path = join(folder, "shared.db");
    const blobs = sqliteBlobs(path);
    const store = blobbedStore(sqliteStore(path), blobs, { aboveBytes: 100 });
    const first = startCommit("a", { input: "x".repeat(1000), status: "completed" });
    await store.create(first);
    const reader = blobbedStore(sqliteStore(path), sqliteBlobs(path));
    expect(await reader.load("a")).toEqual(snapshotAfter(first));
    await store.delete("a");
    for await (const { key } of blobs.list()) expect(key).toBe("gone with its execution");
    await store.close();
    await blobs.close();
  });

  it("refuse what SQLite cannot hold, with both sizes, and any key that is none", async () => {
    const blobs = sqliteBlobs(":memory:");
    // the array is never written to, so it takes no memory
    const tooLarge = blobs.put("a/b", new Uint8Array(2 ** 30));
    await expect(tooLarge).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", details: { actual: 2 ** 30, max: 999_000_000 } });
    for (const key of ["", "../a", "a b", "a'b", "é"]) {
      for (const work of [() => blobs.put(key, new Uint8Array()), () => blobs.get(key), () => blobs.deleteFolder(key)])
        await expect(work(), key).rejects.toMatchObject({ code: "OPTION_INVALID" });
    }
  });

  it("are out of reach once they were closed, and when the file is locked", async () => {
    const path = join(folder, "locked.db");
    const blobs = sqliteBlobs(path, { busyTimeoutMs: 1 });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    await expect(blobs.put("a/b", new Uint8Array(1))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
    other.exec("ROLLBACK");
    other.close();
    await blobs.put("a/b", new Uint8Array(1));
    await blobs.close();
    await blobs.close();
    await expect(blobs.get("a/b")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
