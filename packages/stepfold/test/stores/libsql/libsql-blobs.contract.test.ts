import { join } from "node:path";
import { type Client, createClient } from "@libsql/client";
import { afterAll, describe, expect, it } from "vitest";
import { hranaServer } from "../../../../../scripts/servers/hrana-server.ts";
import { libsqlBlobs, libsqlStore, migrateLibsql } from "../../../src/stores/databases/libsql/index.ts";
import { blobbedStore } from "../../../src/stores/wrappers/blobs/blobbed-store.ts";
import { snapshotAfter, startCommit } from "../../../src/testing/index.ts";
import { blobContractOf } from "../../testing/blob-contract.fixture.ts";
import { testFolder } from "../values/wrapped-bench.fixture.ts";

const folder = testFolder("libsql-blobs");
const opened: { close(): unknown }[] = [];
afterAll(async () => {
  for (const one of opened.reverse()) await one.close();
});

function connect(url: string, intMode: "number" | "bigint" = "number"): Client {
  const client = createClient({ url, intMode, timeout: 5000 });
  opened.push(client);
  return client;
}

blobContractOf("libsql (a file)", {
  async bench(index) {
    const url = `file:${join(folder, `${index}.db`)}`;
    return { blobs: libsqlBlobs(connect(url)), open: async () => libsqlBlobs(connect(url, "bigint")) };
  },
});

blobContractOf("libsql (HTTP to the stand-in for sqld)", {
  async bench(index) {
    const server = await hranaServer({ path: join(folder, `remote-${index}.db`) });
    opened.push(server);
    const open = () => libsqlBlobs(connect(server.url), { migrate: true });
    return { blobs: open(), open: async () => open() };
  },
});

describe("blobs in libSQL", () => {
  it("lie in the database of the executions, and go with them", async () => {
    const client = connect(":memory:");
    const blobs = libsqlBlobs(client);
    const store = blobbedStore(libsqlStore(client), blobs, { aboveBytes: 100 });
    const first = startCommit("a", { input: "x".repeat(1000), status: "completed" });
    await store.create(first);
    expect(await store.load("a")).toEqual(snapshotAfter(first));
    await store.delete("a");
    for await (const { key } of blobs.list()) expect(key).toBe("gone with its execution");
  });

  it("ask for the migration that makes their table", async () => {
    const client = connect(":memory:");
    const blobs = libsqlBlobs(client, { migrate: false });
    await expect(blobs.get("a/b")).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("stepfold migrate") });
    await migrateLibsql(client);
    expect(await blobs.get("a/b")).toBeNull();
  });
});
