import { afterEach, describe, expect, it } from "vitest";
import type { StartedEvent } from "../../../src/core/snapshot/event.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import type { AppendedRow, Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const text = "x".repeat(200);
const nodes = {
  tick: defineNode({
    executor: (_data: unknown, step) => {
      if (!step.resumed) return step.suspend({ ask: text }, { signal: "tick" });
      return { data: { tick: step.resumed.payload, text } };
    },
  }),
};
const ticking = (keep?: number) => ({
  id: "ticking",
  nodes: [{ id: "tick", type: "tick", ...(keep !== undefined && { keep }) }],
  edges: [{ source: "tick", target: "tick" }],
});

/** Makes an execution that waits for one signal after the other, on a store that records checkpoints and the lengths of pages of events. */
function living(keep: number | undefined, more: object = {}) {
  const environment = virtualEnvironment();
  const inner = memoryStore({ now: () => environment.now() });
  const checkpoints: Commit[] = [];
  const pages: number[] = [];
  const store: SnapshotStore = {
    ...inner,
    async commit(commit) {
      await inner.commit(commit);
      if (commit.checkpoint) checkpoints.push(commit);
    },
    async events(workflowId, afterVersion, limit) {
      const rows = await inner.events(workflowId, afterVersion, limit);
      pages.push(rows.length);
      return rows;
    },
  };
  const { runtime } = setUp({ store, nodeDefinitions: nodes as never, workflows: [ticking(keep)] as never, ...more }, environment);
  const tick = async (count: number, key?: string) => {
    const run = await runtime.get("t");
    const sent = await run.signal("tick", count, key === undefined ? {} : { idempotencyKey: key });
    await environment.settle();
    return sent;
  };
  const start = async () => {
    const run = await runtime.start("ticking", { workflowId: "t", input: { text } });
    await environment.settle();
    return run;
  };
  return { start, tick, store, checkpoints, pages };
}

describe("an execution that lives long", () => {
  it("writes a checkpoint now and then, and holds no more than at the beginning", async () => {
    const { start, tick, checkpoints, store } = living(1);
    const run = await start();
    for (let count = 0; count < 30; count++) await tick(count);
    const early = await run.snapshot();
    for (let count = 30; count < 400; count++) await tick(count);
    const late = await run.snapshot();
    expect(late.sizeBytes).toBeLessThan(1.1 * early.sizeBytes);
    expect(JSON.stringify(late.context).length).toBeLessThan(60_000);
    expect(late.context.tick!.at(-1)).toMatchObject({ output: { tick: 399 } });
    const gaps = checkpoints.map(({ head }, index) => head.version - (checkpoints[index - 1]?.head.version ?? 0));
    expect(checkpoints.length).toBeGreaterThan(5);
    expect(Math.max(...gaps)).toBeLessThan(150);
    const bytes = checkpoints.reduce((sum, { checkpoint }) => sum + JSON.stringify(checkpoint).length, 0);
    expect(bytes).toBeLessThan(late.historyBytes! / 10);
    // the history holds each version exactly once, without the checkpoints
    const versions = (await store.events("t", -1, 10_000)).map(({ version }) => version);
    expect(versions).toEqual(Array.from({ length: late.version + 1 }, (_, version) => version));
  });

  it("writes them ever more rarely while it lets go of nothing", async () => {
    const { start, tick, checkpoints } = living(undefined);
    const run = await start();
    for (let count = 0; count < 300; count++) await tick(count);
    expect(checkpoints.length).toBeLessThan(6);
    expect((await run.snapshot()).context.tick).toHaveLength(300);
  });

  it("is short: then it never writes one", async () => {
    const { start, tick, checkpoints } = living(1);
    await start();
    for (let count = 0; count < 15; count++) await tick(count);
    expect(checkpoints.length).toBe(0);
  });

  it("knows the keys of signals without reading its history, and one event for a repeated one", async () => {
    const { start, tick, pages, checkpoints } = living(1, { checkpointBytes: 1_000 });
    await start();
    for (let count = 0; count < 50; count++) expect(await tick(count, `key ${count}`)).toEqual({ applied: true });
    expect(checkpoints.length).toBeGreaterThan(5);
    expect(pages).toEqual([]);
    expect(await tick(3, "key 3")).toEqual({ applied: false });
    expect(pages).toEqual([1]);
    await expect(tick(4, "key 3")).rejects.toMatchObject({ code: "RESUME_CONFLICT" });
  });

  it("goes on from any version all the same", async () => {
    const { start, tick, store, checkpoints } = living(1, { checkpointBytes: 1_000 });
    const run = await start();
    for (let count = 0; count < 20; count++) await tick(count);
    expect(checkpoints.length).toBeGreaterThan(2);
    const version = checkpoints.at(-1)!.head.version - 1;
    const fork = await run.fork({ version });
    // the fork goes on at once, so what it began with is in its first event
    const [{ event }] = (await store.events(fork.workflowId, -1, 1)) as [AppendedRow & { readonly event: StartedEvent }];
    const { from, state } = event.checkpoint!;
    expect(from).toMatchObject({ workflowId: "t", version, reason: "fork" });
    expect(state.context.tick!.at(-1)).toMatchObject({ output: { tick: Math.floor(version / 3) - 1 } });
  });

  it("refuses a number of bytes that is none", () => {
    expect(() => living(1, { checkpointBytes: 0 })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});
