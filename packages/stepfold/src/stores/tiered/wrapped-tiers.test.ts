import { join } from "node:path";
import { expect, it } from "vitest";
import { snapshotAfter, startCommit, stepCommit } from "../../testing/index.ts";
import { blobbedStore } from "../blobs/index.ts";
import { compressedStore } from "../compressed/index.ts";
import { encryptedStore } from "../encrypted/index.ts";
import { sqliteStore } from "../sqlite/index.ts";
import { memoryBlobs } from "../values/values.fixture.ts";
import { testFolder } from "../values/wrapped-bench.fixture.ts";
import { tieredStore } from "./index.ts";

const folder = testFolder("tiers");

it("stores that wrap others serve as tiers: a file, and an encrypted archive with blobs", async () => {
  const keys = [{ id: "k", key: new Uint8Array(32).fill(1) }];
  const blobs = memoryBlobs();
  const archive = sqliteStore(join(folder, "cold.db"));
  const cold = compressedStore(encryptedStore(blobbedStore(archive, blobs, { aboveBytes: 2000 }), { keys }));
  const store = tieredStore({ hot: sqliteStore(join(folder, "hot.db")), cold, coldAfterMs: 0, now: () => Date.now() + 1000 });
  const noise = Array.from({ length: 3000 }, (_, index) => (index * 7919) % 1009);
  const first = startCommit("a", { input: { noise }, metadata: { team: "vermilion", list: noise } });
  const second = stepCommit(first, { outputs: ["x".repeat(50_000), { noise }] });
  const third = stepCommit(second, { status: "completed", output: noise });
  await store.create(first);
  for (const commit of [second, third]) await store.commit(commit);
  expect(await store.move()).toEqual({ moved: 1, left: [] });
  expect(blobs.held.size).toBeGreaterThan(2);
  expect(JSON.stringify(await archive.load("a"))).not.toMatch(/xxxx|7919|vermilion/);
  expect(await store.load("a")).toEqual(snapshotAfter(first, second, third));
  expect((await store.list()).items).toMatchObject([{ workflowId: "a", metadata: { team: "vermilion", list: noise } }]);
  await store.delete("a");
  expect(blobs.held.size).toBe(0);
  await store.close();
});
