import { describe, expect, it } from "vitest";
import { dayOf, maxHeldKeys } from "../../../src/core/snapshot/parts/answered-key.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import { act, benches, edges, ended, type OpenStore, until } from "../identity/identity.fixture.ts";

/** Counts payments until it is told to end. */
const account = {
  id: "account",
  start: "wait",
  variables: { paid: { initial: 0, reducer: "add" } },
  nodes: [
    { id: "wait", type: "signal", data: { name: "payment" } },
    { id: "note", type: "set", data: {}, keep: 1 },
  ],
  edges: edges("wait>note", "note>wait"),
};
/** Begins its next run with each month, and fails when it is told. */
const subscription = {
  id: "subscription",
  nodes: [
    { id: "month", type: "signal", data: { name: "month" } },
    act("count"),
    { id: "again", type: "end", data: { continueAs: { input: {} } } },
  ],
  edges: edges("month>count", "count>again"),
};
/** Holds signals that no step waits for, so that commands alone commit. */
const still = { id: "still", nodes: [{ id: "ask", type: "approval", data: {} }], edges: [] };

/** Sends signals with the keys `PREFIX-0`, `PREFIX-1`, ..., many at once. */
async function send(run: Run, prefix: string, count: number, name = "payment"): Promise<boolean[]> {
  const sent = Array.from({ length: count }, (_, index) =>
    run.signal(name, { amount: 1 }, { idempotencyKey: `${prefix}-${index}`, ttl: "1s" }),
  );
  return (await Promise.all(sent)).map(({ applied }) => applied);
}

/** Changes metadata under the keys `PREFIX-0`, `PREFIX-1`, ... */
async function note(run: Run, prefix: string, count: number): Promise<boolean[]> {
  const made: Promise<{ readonly applied: boolean }>[] = [];
  for (let index = 0; index < count; index++) made.push(run.setMetadata({ last: prefix }, { idempotencyKey: `${prefix}-${index}` }));
  return (await Promise.all(made)).map(({ applied }) => applied);
}

const all = (count: number, value: boolean): boolean[] => Array.from({ length: count }, () => value);

/** Shows that keys are known for a time and not for a number. */
export function keptKeys(name: string, openStore: OpenStore): void {
  describe(`idempotency keys on ${name}`, { timeout: 120_000 }, () => {
    const bench = benches(openStore);

    it("are known after thousands of others, and the snapshot holds a bounded number of them", async () => {
      const { runtime, elsewhere, store } = await bench([still]);
      const run = await runtime.start("still", { workflowId: "a" });
      await run.waitFor("paused");
      expect(await note(run, "k", 2_600)).toEqual(all(2_600, true));
      const { answered, keyRows } = await run.snapshot();
      expect(answered!.length).toBeLessThanOrEqual(maxHeldKeys + 500);
      expect(keyRows!.before).toBeGreaterThan(1_000);
      // also another process knows them, and one that sends them all again
      const other = await elsewhere().get("a");
      expect(await note(other, "k", 40)).toEqual(all(40, false));
      expect((await note(run, "k", 2_600)).filter(Boolean)).toEqual([]);
      expect((await run.snapshot()).version).toBe(2_600 + 1);
      expect((await store.loadHead("a"))!.metadata).toEqual({ last: "k" });
    });

    it("are known with what was given under them: something else under the same key is refused", async () => {
      const { runtime } = await bench([still]);
      const run = await runtime.start("still", { workflowId: "a" });
      await run.waitFor("paused");
      await run.signal("first", { amount: 100 }, { idempotencyKey: "one" });
      await note(run, "k", 1_600);
      await expect(run.signal("first", { amount: 200 }, { idempotencyKey: "one" })).rejects.toMatchObject({ code: "RESUME_CONFLICT" });
      expect(await run.signal("first", { amount: 100 }, { idempotencyKey: "one" })).toMatchObject({ applied: false });
      // the key of another kind of command is another key
      expect(await run.setMetadata({ last: "one" }, { idempotencyKey: "one" })).toMatchObject({ applied: true });
    });

    it("are known over runs, restarts, and after the events of earlier runs were trimmed", async () => {
      const { runtime, store, broken } = await bench([subscription]);
      const run = await runtime.start("subscription", { workflowId: "a", input: {} });
      expect(await send(run, "m", 3, "month")).toEqual(all(3, true));
      await until(run, ({ run: present }) => present?.number === 4);
      await note(run, "k", 1_600);
      await store.trim({ before: (await store.now()) + 1 });
      broken.add("count");
      await run.signal("month", {}, { idempotencyKey: "last" });
      await until(run, ended);
      broken.delete("count");
      expect(await run.restart({ idempotencyKey: "mended" })).toEqual({ applied: true, reason: "restarted" });
      await until(run, ({ run: present }) => present?.number === 5);
      await note(run, "l", 1_200);
      expect(await send(run, "m", 3, "month")).toEqual(all(3, false));
      expect(await note(run, "k", 3)).toEqual(all(3, false));
      expect(await run.restart({ idempotencyKey: "mended" })).toEqual({ applied: false, reason: "repeated" });
    });

    it("are deleted with their execution", async () => {
      const { runtime, store } = await bench([still]);
      const run = await runtime.start("still", { workflowId: "a" });
      await run.waitFor("paused");
      await note(run, "k", 1_600);
      const { incarnation = "", keyRows } = await run.snapshot();
      const owner = { workflowId: "a", incarnation };
      expect(await keysOf(store, owner, keyRows!.days)).toBeGreaterThan(500);
      await run.cancel();
      await until(run, ended);
      await store.delete("a");
      expect(await keysOf(store, owner, keyRows!.days)).toBe(0);
    });

    it("come with thousands at once, each once, while steps commit too", async () => {
      const { runtime } = await bench([account]);
      const run = await runtime.start("account", { workflowId: "a" });
      const [first, second] = await Promise.all([send(run, "k", 900), send(run, "k", 900)]);
      expect(first.filter(Boolean).length + second.filter(Boolean).length).toBe(900);
      expect((await note(run, "n", 700)).filter(Boolean)).toHaveLength(700);
      expect((await send(run, "k", 900)).filter(Boolean)).toEqual([]);
    });
  });
}

async function keysOf(store: SnapshotStore, owner: { workflowId: string; incarnation: string }, days: readonly number[]): Promise<number> {
  const counts = await Promise.all([...days, dayOf(Date.now())].map(async (day) => (await store.keptKeys!.all(owner, day)).length));
  return Math.max(0, ...counts);
}
