import { afterEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../src/ports/snapshot-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { closeAll, dying, line, second, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

const bytes = 1_000_000;
const text = "x".repeat(bytes);

/** Starts executions that hold a megabyte each and wait for the same time. */
async function waiting(count: number) {
  const environment = virtualEnvironment();
  const { store, runtime } = setUp({ drive: false }, environment);
  const until = environment.now() + second;
  const ids = Array.from({ length: count }, (_, index) => `large-${index}`);
  for (const workflowId of ids) await runtime.start("nap", { workflowId, input: { until, text } });
  const starter = setUp({ store }, environment);
  await environment.advance(0);
  await starter.runtime.close();
  return { environment, store, ids, until };
}

describe("AUDIT 6: executions with large snapshots", () => {
  it("are loaded by bytes, however many are due at one moment: what finds no room stays in the store, and its turn comes", async () => {
    const { environment, store, ids } = await waiting(30);
    // the sizes of the loaded executions, from the load to the commit that ends the execution or gives its claim back
    const held = new Map<string, number>();
    let mostHeld = 0;
    const counted: SnapshotStore = {
      ...store,
      async load(workflowId) {
        const snapshot = await store.load(workflowId);
        held.set(workflowId, snapshot?.sizeBytes ?? 0);
        mostHeld = Math.max(
          mostHeld,
          [...held.values()].reduce((sum, one) => sum + one, 0),
        );
        return snapshot;
      },
      async commit(commit) {
        await store.commit(commit);
        if (commit.release || commit.head.status === "completed") held.delete(commit.workflowId);
      },
    };
    setUp({ store: counted, maxLoadedBytes: 5 * bytes }, environment);
    await environment.advance(60 * second);
    const { items } = await store.list();
    expect(items.map(({ status }) => status)).toEqual(ids.map(() => "completed"));
    expect(items.every(({ lease }) => lease === null)).toBe(true);
    expect(mostHeld).toBeGreaterThan(2 * bytes);
    expect(mostHeld).toBeLessThan(5 * bytes);
  });

  it("are left to another process where a long step holds the room", async () => {
    const { environment, store, ids } = await waiting(2);
    const busy = setUp({ store, maxLoadedBytes: bytes, workflows: [line("long", "stuck")] }, environment);
    await busy.runtime.start("long", { workflowId: "long", input: text });
    await environment.advance(5 * second);
    expect((await store.list({ status: ["paused"] })).items).toHaveLength(2);
    setUp({ store }, environment);
    await environment.advance(5 * second);
    expect((await store.list({ status: ["completed"] })).items).toHaveLength(ids.length);
  });

  /** Starts an execution that waits for an answer, in a process that may hold `maxLoadedBytes`, and counts the loads of the execution. */
  async function answered(maxLoadedBytes: number) {
    const environment = virtualEnvironment();
    const { store } = setUp({ drive: false }, environment);
    let loads = 0;
    const load = (workflowId: string): Promise<Snapshot | null> => {
      if (workflowId === "large") loads++;
      return store.load(workflowId);
    };
    const { runtime } = setUp(
      { store: { ...store, load }, maxLoadedBytes, workflows: [line("talk", "say", "ask", "say"), line("long", "stuck")] },
      environment,
    );
    const run = await runtime.start("talk", { workflowId: "large", input: text });
    await environment.advance(0);
    const answer = async (): Promise<void> => {
      loads = 0;
      await run.resume({ payload: { approved: true } });
    };
    return { environment, store, runtime, answer, loads: () => loads };
  }

  it("are not loaded anew in the process that was given their answer: it goes on with what it has read", async () => {
    const { environment, store, answer, loads } = await answered(2 * bytes);
    await answer();
    await environment.advance(0);
    expect(await store.load("large")).toMatchObject({ status: "completed" });
    expect(loads()).toBe(1);
  });

  it("are not held after an answer where there is no room for them: they are loaded once there is some", async () => {
    const { environment, store, runtime, answer, loads } = await answered(2 * bytes);
    const long = await runtime.start("long", { input: [text, text] });
    await environment.advance(0);
    await answer();
    await environment.advance(0);
    expect(loads()).toBe(1);
    await long.cancel();
    await environment.advance(5 * second);
    expect(await store.load("large")).toMatchObject({ status: "completed" });
    expect(loads()).toBe(2);
  });

  it("is parked without being loaded if it kills each process that loads it", async () => {
    const environment = virtualEnvironment();
    const { store, runtime } = setUp({ drive: false }, environment);
    await runtime.start("nap", { workflowId: "deadly", input: { until: environment.now() } });
    await runtime.start("nap", { workflowId: "other", input: { until: environment.now() } });
    let loads = 0;
    for (let death = 0; death < 9; death++) {
      const process = dying(environment);
      const load = (workflowId: string): Promise<Snapshot | null> => {
        if (workflowId !== "deadly") return store.load(workflowId);
        loads++;
        process.die();
        return new Promise(() => undefined);
      };
      setUp({ store: { ...store, load }, environment: process.environment });
      await environment.advance(second);
      process.die();
      await environment.advance(31 * second);
    }
    // two claims are lost before their holders have begun, then five processes die after they have begun, and the execution is parked
    expect(loads).toBe(7);
    const run = await runtime.get("deadly");
    expect(await run.snapshot()).toMatchObject({ status: "parked", parked: { code: "WORKER_CRASHED" } });
    setUp({ store }, environment);
    await environment.advance(60 * second);
    expect(await store.load("other")).toMatchObject({ status: "completed" });
  });
});
