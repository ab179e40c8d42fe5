import { afterEach, describe, expect, it } from "vitest";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const approval = { id: "ask", nodes: [{ id: "ask", type: "approval" }], edges: [] };

/** Two processes on one store: one that runs executions, and one that only waits; the calls of the second are counted. */
async function twoProcesses() {
  const environment = virtualEnvironment();
  const inner = memoryStore({ now: environment.now });
  const worker = setUp({ store: inner, nodeDefinitions: builtinNodes as never, workflows: [approval] }, environment);
  const counts = { heads: 0, loads: 0, events: 0 };
  const store = {
    ...inner,
    loadHead: (id: string) => {
      counts.heads++;
      return inner.loadHead(id);
    },
    load: (id: string) => {
      counts.loads++;
      return inner.load(id);
    },
    events: (...args: Parameters<typeof inner.events>) => {
      counts.events++;
      return inner.events(...args);
    },
  };
  const waiter = setUp({ store, nodeDefinitions: builtinNodes as never, workflows: [approval], drive: false }, environment);
  const started = await worker.runtime.start("ask", { workflowId: "w" });
  await environment.settle();
  return { environment, store: inner, counts, started, run: await waiter.runtime.get("w") };
}

describe("waiting for an execution that another process runs", () => {
  it("reads one head a poll, however many wait for it and in whatever way", async () => {
    const { environment, counts, started, run } = await twoProcesses();
    const results = Array.from({ length: 100 }, () => run.result());
    const watches = Array.from({ length: 100 }, () => run.watch({ after: 1 }).next());
    await environment.settle();
    Object.assign(counts, { heads: 0, loads: 0, events: 0 });
    await environment.advance(5 * second);
    expect(counts).toEqual({ heads: 5, loads: 0, events: 0 });
    await started.resume({ payload: { approved: true } });
    await environment.advance(second);
    expect(await Promise.all(results)).toEqual(Array(100).fill({ approved: true }));
    for (const { value } of await Promise.all(watches)) expect(value?.event).toMatchObject({ type: "resumed" });
  });

  it("asks for nothing any more once nobody waits", async () => {
    const { environment, counts, run } = await twoProcesses();
    const leaving = new AbortController();
    const result = run.result({ signal: leaving.signal });
    await environment.advance(second);
    leaving.abort(new RangeError("gone"));
    await expect(result).rejects.toThrow("gone");
    const before = counts.heads;
    await environment.advance(10 * second);
    expect(counts.heads).toBe(before);
  });

  it("ends after its time, and says what did not happen", async () => {
    const { environment, run } = await twoProcesses();
    for (const [wait, awaited] of [
      [() => run.result({ timeoutMs: 3 * second }), "end"],
      [() => run.watch({ after: 1, timeoutMs: 3 * second }).next(), "end"],
    ] as const) {
      const failed = expect(wait()).rejects.toMatchObject({ code: "NOT_IN_TIME", details: { workflowId: "w", awaited, timeoutMs: 3_000 } });
      await environment.advance(3 * second);
      await failed;
    }
  });

  it("refuses options that are none", async () => {
    const { run } = await twoProcesses();
    await expect(run.result({ timeout: 5 } as never)).rejects.toMatchObject({ code: "OPTION_UNKNOWN", details: { meant: "timeoutMs" } });
    await expect(run.settled({ timeoutMs: Number.NaN })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(run.settled({ signal: {} as never })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect(() => run.watch({ timeoutMs: 0 })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it("rejects with what the store rejects with", async () => {
    const { environment, store, run } = await twoProcesses();
    const result = run.result();
    result.catch(() => undefined);
    await environment.settle();
    await store.close();
    await environment.advance(second);
    await expect(result).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
