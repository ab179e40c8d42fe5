import { StatementSync } from "node:sqlite";
import { expect, it, vi } from "vitest";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { writtenRuns } from "../../../src/testing/contract/records/runs.ts";

it("a load after 400 runs reads one head, one checkpoint, and the events of the present run after it", async () => {
  const store = sqliteStore(":memory:");
  const runs = Array.from({ length: 399 }, (_, index) => index);
  const commits = await writtenRuns(store, "a", runs);
  const all = vi.spyOn(StatementSync.prototype, "all");
  const loaded = async (): Promise<number[]> => {
    all.mockClear();
    expect((await store.load("a"))?.version).toBe(commits.at(-1)!.head.version);
    return all.mock.results.map(({ value }) => (value as unknown[]).length);
  };
  expect(await loaded()).toEqual([4]);
  await store.trim({ before: 1000 });
  expect(await loaded()).toEqual([4]);
  all.mockRestore();
  await store.close();
});
