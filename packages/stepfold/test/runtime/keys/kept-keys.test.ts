import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { dayOf, maxHeldKeys } from "../../../src/core/snapshot/parts/answered-key.ts";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { tieredStore } from "../../../src/stores/wrappers/tiered/tiered-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, hour, setUp } from "../runtime.fixture.ts";
import { keptKeys } from "./kept-keys.fixture.ts";

afterEach(closeAll);

keptKeys("memory", async () => memoryStore());
keptKeys("SQLite", async () => sqliteStore(":memory:"));

const day = 24 * hour;

async function note(run: Run, prefix: string, count: number): Promise<number> {
  const made = Array.from({ length: count }, (_, index) => run.setMetadata({ last: prefix }, { idempotencyKey: `${prefix}-${index}` }));
  return (await Promise.all(made)).filter(({ applied }) => applied).length;
}

/** Sends further keys until the next command has to move some. */
async function fill(run: Run): Promise<void> {
  for (let times = 0; (await run.snapshot()).answered!.length <= maxHeldKeys; times++) await note(run, `more ${times}`, 40);
}

/** An execution that waits, and what its store does. */
async function waiting(wrap: (store: SnapshotStore) => SnapshotStore = (store) => store, limits = {}) {
  const environment = virtualEnvironment();
  const inner = memoryStore({ now: () => environment.now() });
  const { runtime } = setUp({ store: wrap(inner), limits }, environment);
  const run = await runtime.start("talk", { workflowId: "a" });
  await environment.advance(1);
  return { environment, runtime, run, store: inner };
}

describe("keys of an execution that lives long", () => {
  it("are known for seven days, whatever comes after them, and their rows go when these are over", async () => {
    const { environment, run, store } = await waiting();
    await note(run, "first", 1_200);
    await environment.advance(3 * day);
    await note(run, "second", 1_200);
    await environment.advance(4 * day - hour);
    expect(await note(run, "first", 30)).toBe(0);
    await environment.advance(day + 2 * hour);
    expect(await note(run, "second", 30)).toBe(0);
    await note(run, "third", 1);
    const { incarnation = "", keyRows } = await run.snapshot();
    const owner = { workflowId: "a", incarnation };
    const began = dayOf(environment.now() - 8 * day);
    expect(keyRows!.days.every((one) => one > began)).toBe(true);
    expect(await store.keptKeys!.all(owner, began)).toEqual([]);
    // after that the same key is a new one
    expect(await note(run, "first", 3)).toBe(3);
  });

  it("are known for as long as the host says", async () => {
    const { environment, run } = await waiting(undefined, { idempotencyKeyMs: 2 * day });
    await note(run, "first", 1_200);
    await note(run, "second", 1_200);
    await environment.advance(2 * day - hour);
    expect(await note(run, "first", 3)).toBe(0);
    await environment.advance(2 * day);
    await note(run, "third", 1);
    expect(await note(run, "first", 3)).toBe(3);
  });
});

describe("a bad day while keys are moved", () => {
  it("in which the disk is full refuses the command, loses no key, and the next command moves them", async () => {
    let isFull = false;
    const { run } = await waiting((store) => ({
      ...store,
      keptKeys: {
        ...store.keptKeys!,
        async put(...given) {
          if (isFull) throw new StepfoldError("STORE_REJECTED", { store: "memory", reason: "the disk is full" });
          await store.keptKeys!.put(...given);
        },
      },
    }));
    await note(run, "k", 900);
    await fill(run);
    isFull = true;
    await expect(run.setMetadata({ last: "x" }, { idempotencyKey: "x" })).rejects.toMatchObject({ code: "STORE_REJECTED" });
    isFull = false;
    expect(await note(run, "k", 900)).toBe(0);
    expect(await run.setMetadata({ last: "x" }, { idempotencyKey: "x" })).toMatchObject({ applied: true });
    expect((await run.snapshot()).keyRows!.before).toBeGreaterThan(500);
  });

  it("in which the process dies between the rows and the commit has every key in both, and no key counts twice", async () => {
    let dies = false;
    const { run } = await waiting((store) => ({
      ...store,
      async commit(commit: Commit) {
        if (dies) throw new StepfoldError("STORE_REJECTED", { store: "memory", reason: "the process has died" });
        await store.commit(commit);
      },
    }));
    await note(run, "k", 900);
    await fill(run);
    const before = await run.snapshot();
    dies = true;
    await expect(run.setMetadata({ last: "x" }, { idempotencyKey: "x" })).rejects.toMatchObject({ code: "STORE_REJECTED" });
    dies = false;
    expect(await run.snapshot()).toEqual(before);
    expect(await note(run, "k", 900)).toBe(0);
    expect(await run.setMetadata({ last: "x" }, { idempotencyKey: "x" })).toMatchObject({ applied: true });
    expect(await note(run, "k", 900)).toBe(0);
  });

  it("in a store without rows leaves the latest 2,000", async () => {
    const { run } = await waiting(({ keptKeys: _, ...store }) => store);
    await note(run, "k", 2_300);
    expect((await run.snapshot()).answered).toHaveLength(2_000);
    await expect(run.setMetadata({ last: "x" }, { idempotencyKey: "k-2299" })).rejects.toMatchObject({ code: "METADATA_CONFLICT" });
  });
});

describe("keys where other features meet them", () => {
  it("go with their execution into a cold store, and come back with a restart", async () => {
    const environment = virtualEnvironment();
    const [hot, cold] = [memoryStore({ now: () => environment.now() }), memoryStore({ now: () => environment.now() })];
    const tiers = tieredStore({ hot, cold, coldAfterMs: hour, now: () => environment.now() });
    const { runtime } = setUp({ store: tiers }, environment);
    const run = await runtime.start("talk", { workflowId: "a" });
    await environment.advance(1);
    await note(run, "k", 1_600);
    await environment.advance(2 * hour);
    expect(await tiers.move()).toMatchObject({ moved: 1 });
    // it waits in the cold store now
    expect(await note(run, "k", 50)).toBe(0);
    await note(run, "l", 700);
    await run.cancel();
    await environment.advance(2 * hour);
    await tiers.move();
    expect(await run.restart()).toMatchObject({ applied: true });
    await environment.advance(1);
    expect(await note(run, "k", 50)).toBe(0);
    expect(await note(run, "l", 50)).toBe(0);
  });

  it("a fork knows the latest ones of its origin", async () => {
    const { environment, run } = await waiting();
    await note(run, "k", 1_600);
    const fork = await run.fork({ workflowId: "fork" });
    await environment.advance(1);
    const last = await fork.setMetadata({ last: "k" }, { idempotencyKey: "k-1599" });
    expect(last).toMatchObject({ applied: false });
    expect((await fork.snapshot()).answered!.length).toBeLessThanOrEqual(501);
    expect(await note(fork, "own", 1_200)).toBe(1_200);
    expect(await note(fork, "own", 1_200)).toBe(0);
  });
});
