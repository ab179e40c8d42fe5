import { describe, expect, it } from "vitest";
import { startCommit, stepCommit } from "../../testing/index.ts";
import { MemoryTable } from "../databases/memory/memory-table.ts";
import { storeOver } from "./store-over.ts";

describe("records of permits", () => {
  it("are deleted by a prune when nobody uses their keys any longer", async () => {
    const table = new MemoryTable(Date.now);
    const store = storeOver(table, { errorOf: (cause) => cause as never });
    const keys = Array.from({ length: 40 }, (_, index) => `key-${index + 10}`);
    for (const key of keys) await store.create(startCommit(`in ${key}`, { head: { permit: { key, limit: 1 } } as never }));
    const [kept, ...others] = await store.claim({ owner: "worker", leaseMs: 60_000, limit: 40 });
    for (const { claim, snapshot } of others) await store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
    expect((await table.records.get("permit", keys)).size).toBe(40);
    await store.prune({ before: 0, dryRun: true });
    expect((await table.records.get("permit", keys)).size).toBe(40);
    await store.prune({ before: 0 });
    expect([...(await table.records.get("permit", keys)).keys()]).toEqual([kept!.snapshot.permit!.key]);
  });

  it("are read once for all keys of a claim", async () => {
    const table = new MemoryTable(Date.now);
    const store = storeOver(table, { errorOf: (cause) => cause as never });
    const keys = Array.from({ length: 20 }, (_, index) => `key-${index + 10}`);
    for (const key of keys) await store.create(startCommit(`in ${key}`, { head: { permit: { key, limit: 1 } } as never }));
    const read: number[] = [];
    const { get } = table.records;
    table.records.get = (kind, asked) => {
      read.push(asked.length);
      return get(kind, asked);
    };
    expect(await store.claim({ owner: "worker", leaseMs: 60_000, limit: 20 })).toHaveLength(20);
    expect(read[0]).toBe(20);
    expect(read.length).toBeLessThanOrEqual(3);
  });
});
