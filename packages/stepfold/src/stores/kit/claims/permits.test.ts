import { describe, expect, it } from "vitest";
import { claimAndLoad } from "../../../testing/claim-and-load.ts";
import { startCommit, stepCommit } from "../../../testing/index.ts";
import { MemoryTable } from "../../databases/memory/memory-table.ts";
import { storeOver } from "../store-over.ts";

describe("records of permits", () => {
  it("go with the last execution that is deleted, if no other one has a permit of its key", async () => {
    const table = new MemoryTable(Date.now);
    const store = storeOver(table, { errorOf: (cause) => cause as never });
    const keys = Array.from({ length: 40 }, (_, index) => `key-${index + 10}`);
    for (const key of keys) await store.create(startCommit(`in ${key}`, { head: { permit: { key, limit: 2 } } as never }));
    await store.create(startCommit("kept", { head: { permit: { key: keys[7]!, limit: 2 } } as never }));
    const claimed = await claimAndLoad(store, { owner: "worker", leaseMs: 60_000, limit: 41 });
    expect(claimed).toHaveLength(41);
    const others = claimed.filter(({ claim }) => claim.workflowId !== "kept");
    for (const { claim, snapshot } of others) await store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
    expect((await table.records.get("permit", keys)).size).toBe(40);
    await store.prune({ before: Number.MAX_SAFE_INTEGER, dryRun: true });
    expect((await table.records.get("permit", keys)).size).toBe(40);
    await store.prune({ before: Number.MAX_SAFE_INTEGER });
    expect([...(await table.records.get("permit", keys)).keys()]).toEqual([keys[7]]);
    await store.commit(stepCommit((await store.load("kept"))!, { status: "cancelled" }));
    await store.delete("kept");
    expect((await table.records.get("permit", keys)).size).toBe(0);
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

describe("executions that wait for a permit and need none", () => {
  it("are claimed although rows before them are locked", async () => {
    const table = new MemoryTable(() => 2_000);
    const store = storeOver(table, { errorOf: (cause) => cause as never });
    const permit = { key: "bank", limit: 1 };
    await store.create(startCommit("holder", { head: { permit } }));
    await store.claim({ owner: "worker", leaseMs: 60_000, limit: 1, workflowId: "holder" });
    for (const [index, id] of ["locked-1", "locked-2", "free-1", "free-2"].entries())
      await store.create(startCommit(id, { head: { permit, deadlineAt: 1_000 + index } }));
    const { write } = table;
    table.write = async (writes) => {
      const answers = await write.call(
        table,
        writes.filter(({ id }) => !id.startsWith("locked")),
      );
      return writes.map(({ id }) => (id.startsWith("locked") ? null : answers.shift()!));
    };
    const claims = await store.claim({ owner: "worker", leaseMs: 60_000, limit: 2 });
    expect(claims.map(({ workflowId, withoutPermit }) => [workflowId, withoutPermit])).toEqual([
      ["free-1", true],
      ["free-2", true],
    ]);
  });
});
