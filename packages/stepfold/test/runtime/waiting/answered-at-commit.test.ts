import { afterEach, describe, expect, it } from "vitest";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** Starts an execution in a process whose claims wait, after `close`, until the test calls `letGo`. */
async function begin() {
  const environment = virtualEnvironment();
  const inner = memoryStore({ now: environment.now });
  const calls: string[] = [];
  let letGo: () => void = () => undefined;
  let gate: Promise<void> | null = null;
  const store = {
    ...inner,
    load: (id: string) => {
      calls.push("load");
      return inner.load(id);
    },
    async claim(options: Parameters<typeof inner.claim>[0]) {
      if (options.workflowId !== undefined) {
        calls.push("claim");
        await gate;
      }
      return inner.claim(options);
    },
  };
  const { runtime } = setUp({ store }, environment);
  const run = await runtime.start("talk");
  await environment.settle();
  calls.length = 0;
  const close = (): void => {
    gate = new Promise((resolve) => {
      letGo = resolve;
    });
  };
  return { environment, runtime, run, calls, store: inner, close, letGo: () => letGo() };
}

describe("run.resume, where the execution runs in the same process", () => {
  it("is answered once its commit is there, and does not wait for the claim", async () => {
    const { environment, run, calls, store, close, letGo } = await begin();
    close();
    expect(await run.resume({ payload: { approved: true } })).toEqual({ applied: true });
    expect((await store.load(run.workflowId))?.status).toBe("active");
    letGo();
    await environment.settle();
    expect((await store.load(run.workflowId))?.status).toBe("completed");
    // the session goes on with the snapshot that the command has loaded and written, and does not load it again
    expect(calls).toEqual(["load", "claim"]);
  });

  it("has told whoever waits until it has settled, who reads nothing", async () => {
    const { environment, run, calls, close, letGo } = await begin();
    close();
    await run.resume({ payload: { approved: true } });
    const settled = run.settled();
    await environment.settle();
    letGo();
    expect(await settled).toMatchObject({ status: "completed" });
    expect(calls).toEqual(["load", "claim"]);
  });

  it("has whoever waits look where another process was first", async () => {
    const { environment, run, calls, store, close, letGo } = await begin();
    close();
    await run.resume({ payload: { approved: true } });
    const settled = run.settled();
    await environment.settle();
    setUp({ store }, environment);
    await environment.advance(0);
    expect((await store.load(run.workflowId))?.status).toBe("completed");
    const atMs = environment.now();
    letGo();
    expect(await settled).toMatchObject({ status: "completed" });
    expect({ calls, waitedMs: environment.now() - atMs }).toEqual({ calls: ["load", "claim", "load"], waitedMs: 0 });
  });

  it("loads what somebody else has written meanwhile", async () => {
    const { environment, run, calls, store, close, letGo } = await begin();
    const { runtime: other } = setUp({ store, drive: false }, environment);
    close();
    await run.resume({ payload: { approved: true } });
    await (await other.get(run.workflowId)).signal("later", 1);
    letGo();
    await environment.settle();
    expect((await store.load(run.workflowId))?.status).toBe("completed");
    expect(calls).toEqual(["load", "claim", "load"]);
  });

  it("runs to its pause before the runtime is closed, or is given back", async () => {
    const { environment, runtime, run, store, close, letGo } = await begin();
    close();
    await run.resume({ payload: { approved: true } });
    let isClosed = false;
    const closing = runtime.close().then(() => {
      isClosed = true;
    });
    await environment.settle();
    expect(isClosed).toBe(false);
    letGo();
    await closing;
    const claimed = await store.claim({ owner: "next", leaseMs: 1_000, limit: 1 });
    const { status } = (await store.load(run.workflowId))!;
    expect([claimed.length, status]).toEqual(status === "completed" ? [0, "completed"] : [1, "active"]);
  });
});
