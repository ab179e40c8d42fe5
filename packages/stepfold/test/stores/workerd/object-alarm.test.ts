import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { expect, it } from "vitest";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { createRuntime } from "../../../src/runtime/index.ts";
import { durableObjectStore, type ObjectStorage } from "../../../src/stores/databases/durable-object/index.ts";

/** The storage of an object, made with SQLite in memory. */
function objectStorage(): ObjectStorage {
  const db = new DatabaseSync(":memory:");
  return {
    sql: {
      exec(query, ...bindings) {
        const rows = db.prepare(query).all(...(bindings as SQLInputValue[]));
        return { toArray: () => rows, rowsWritten: Number(db.prepare("SELECT changes() AS changed").get()!.changed) };
      },
    },
    transactionSync(work) {
      db.exec("BEGIN");
      try {
        const result = work();
        db.exec("COMMIT");
        return result;
      } catch (error) {
        db.exec("ROLLBACK");
        throw error;
      }
    },
    setAlarm: async () => undefined,
  };
}

const workflows = [
  { id: "pause", nodes: [{ id: "pause", type: "wait", data: { for: "1h" } }], edges: [] },
  {
    id: "turns",
    concurrency: { key: "bank", limit: 1 },
    nodes: [{ id: "note", type: "set", data: "done" }],
    edges: [],
  },
];

it("an alarm that could not be set is set by a later write: what failed has left nothing behind", async () => {
  const alarms: number[] = [];
  let isBroken = false;
  const setAlarm = (at: number): void => {
    if (isBroken) throw new TypeError("the alarm cannot be set");
    alarms.push(at);
  };
  let now = 1_000_000;
  const store = durableObjectStore(objectStorage(), { setAlarm, now: () => now });
  const runtime = createRuntime({ store, workflows, nodeDefinitions: builtinNodes, drive: false });
  await runtime.start("pause", { workflowId: "one" });
  now += 1;
  isBroken = true;
  const lease = { owner: "one", leaseMs: 30_000, limit: 1 };
  await expect(store.claim(lease)).rejects.toMatchObject({ code: "STORE_REJECTED" });
  isBroken = false;
  now += 1_000;
  expect(await store.claim(lease)).toHaveLength(1);
  // the holder may die, so the alarm is set to the end of its lease
  expect(alarms).toEqual([1_000_000, now + 30_000]);
  await runtime.close();
});

it("an execution that waits for a permit is looked at when its deadline passes", async () => {
  const alarms: number[] = [];
  let now = 1_000_000;
  const store = durableObjectStore(objectStorage(), { setAlarm: (at) => void alarms.push(at), now: () => now });
  const runtime = createRuntime({ store, workflows, nodeDefinitions: builtinNodes, drive: false });
  await runtime.start("turns", { workflowId: "held" });
  expect(await store.claim({ owner: "one", leaseMs: 600_000, limit: 1 })).toHaveLength(1);
  await runtime.start("turns", { workflowId: "late", timeout: "5s" });
  now += 1;
  await store.alarm(runtime);
  expect(alarms.at(-1)).toBe((await store.load("late"))!.deadlineAt);
  await runtime.close();
});
