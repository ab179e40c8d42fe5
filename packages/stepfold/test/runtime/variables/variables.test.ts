import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/encrypted-store.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, dying, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const nodes = {
  ...builtinNodes,
  tick: defineNode({
    executor(_data: unknown, step) {
      if (!step.resumed) return step.suspend(null, { signal: "tick" });
      return { data: step.vars.count ?? null, vars: { count: 1, log: `at ${String(step.resumed.payload)}` } };
    },
  }),
  /** A node that goes on as a new execution if the count is a multiple of three and below 7. */
  roll: defineNode({
    executor(_data: unknown, step) {
      const count = Number(step.vars.count);
      return count % 3 === 0 && count < 7 ? { continueAs: {}, vars: { rolls: 1 } } : { data: count };
    },
  }),
};
const variables = { count: { initial: 0, reducer: "add" }, log: { reducer: "append" }, rolls: { reducer: "add" } };
const add = (id: string, vars: object) => ({ id, type: "set", data: { vars } });
const edge = (source: string, target: string, sourceHandle?: string) => ({ source, target, ...(sourceHandle && { sourceHandle }) });

/** A workflow whose branches, map and loop all set the same variables. */
const busy = {
  id: "busy",
  variables: { sum: { initial: 0, reducer: "add" }, seen: { reducer: "append" } },
  output: "{{ vars }}",
  nodes: [
    add("first", { sum: 1, latest: "first" }),
    add("a", { sum: 10, latest: "a", seen: "{{ vars.sum }}" }),
    { id: "each", type: "map", data: { workflow: "item", items: [1, 2, 3], concurrency: 2 } },
    add("b", { sum: "{{ $json[0] + $json[1] + $json[2] }}", big: "{{ 'secret'.repeat(500) }}" }),
    { id: "both", type: "noop", join: "all" },
    add("again", { sum: 1000, rounds: "{{ (vars.rounds ?? 0) + 1 }}" }),
    { id: "enough", type: "if", data: { condition: "{{ vars.rounds >= 3 }}" } },
  ],
  edges: [
    ...[edge("first", "a"), edge("first", "each"), edge("each", "b"), edge("a", "both"), edge("b", "both"), edge("both", "again")],
    ...[edge("again", "enough"), edge("enough", "again", "false")],
  ],
  workflows: {
    item: {
      id: "item",
      variables: { sum: { reducer: "add" } },
      nodes: [add("i", { sum: "{{ item }}" }), { id: "o", type: "set", data: "{{ vars.sum }}" }],
      edges: [edge("i", "o")],
    },
  },
} as unknown as WorkflowDefinition;
const ticking = {
  id: "ticking",
  variables,
  nodes: [{ id: "tick", type: "tick", keep: 1 }],
  edges: [edge("tick", "tick")],
} as WorkflowDefinition;
const rolling = {
  id: "rolling",
  variables,
  nodes: [
    { id: "tick", type: "tick", keep: 1 },
    { id: "roll", type: "roll", keep: 1 },
  ],
  edges: [edge("tick", "roll"), edge("roll", "tick")],
  start: "tick",
} as WorkflowDefinition;
const workflows = [busy, ticking, rolling];

type Wrap = (inner: SnapshotStore) => SnapshotStore;
const wraps: Readonly<Record<string, Wrap>> = {
  plain: (inner) => inner,
  encrypted: (inner) => encryptedStore(inner, { keys: [{ id: "k", key: new Uint8Array(32).fill(7) }] }),
};

/** Lets virtual time pass until `isSo` holds. Encryption takes real time, in which the virtual time stands still. */
async function until(environment: VirtualEnvironment, isSo: () => Promise<boolean>): Promise<void> {
  for (const beginMs = performance.now(); !(await isSo()); ) {
    // a busy machine encrypts slowly, so the bound is one of time and not of looks
    expect(performance.now() - beginMs).toBeLessThan(25_000);
    await environment.advance(200);
    await setImmediate();
  }
}

/** Sends the next signal, and waits until the execution has counted it and waits again. */
async function tick(environment: VirtualEnvironment, run: Run, payload: unknown): Promise<void> {
  const { version } = await run.snapshot();
  await run.signal("tick", payload);
  await until(environment, async () => {
    const { status, version: now } = await run.snapshot();
    return status !== "active" && now > version + 1;
  });
}

/** Runs the workflow `busy` in a process that dies after `crashAt` commits, and then in another process. */
async function crashing(wrap: Wrap, crashAt: number): Promise<{ snapshot: Snapshot; commits: number; stored: string }> {
  const environment = virtualEnvironment();
  const inner = memoryStore({ now: () => environment.now() });
  let commits = 0;
  const first = dying(environment);
  const doomed: SnapshotStore = {
    ...inner,
    commit(commit) {
      if (++commits > crashAt) {
        first.die();
        return new Promise(() => undefined);
      }
      return inner.commit(commit);
    },
  };
  const options = { nodeDefinitions: nodes as never, workflows, leaseMs: 5 * second };
  const one = setUp({ ...options, store: wrap(doomed), environment: first.environment }, environment);
  await one.runtime.start("busy", { workflowId: "x" });
  await until(environment, async () => commits > crashAt || (await inner.loadHead("x"))?.status === "completed");
  const two = setUp({ ...options, store: wrap(inner) }, environment);
  const run = await two.runtime.get("x");
  await until(environment, async () => (await run.snapshot()).status === "completed");
  const stored = JSON.stringify([await inner.load("x"), await inner.events("x", -1, 100)]);
  return { snapshot: await run.snapshot(), commits, stored };
}

describe.each(Object.entries(wraps))("variables in a store that is %s", (name, wrap) => {
  it("come to the same, whatever commit its process dies at", async () => {
    const { snapshot, commits, stored } = await crashing(wrap, Number.POSITIVE_INFINITY);
    const output = snapshot.output as Record<string, unknown>;
    // each item of the map begins with the sum 1 that the first node has set, so the items give 2, 3 and 4
    expect(output).toMatchObject({ sum: 1 + 10 + (2 + 3 + 4) + 3000, rounds: 3, seen: [1], latest: "a" });
    expect(stored.includes("secret")).toBe(name === "plain");
    expect(commits).toBeGreaterThan(5);
    for (let crashAt = 0; crashAt < commits; crashAt++) {
      const again = (await crashing(wrap, crashAt)).snapshot;
      expect(again.output).toEqual(output);
      expect(Object.keys(again.variables!).sort()).toEqual(Object.keys(snapshot.variables!).sort());
      expect(again.sizeBytes).toBe(snapshot.sizeBytes);
    }
  });

  it("are there after a hundred signals, from checkpoints, and in forks", async () => {
    const environment = virtualEnvironment();
    const store = wrap(memoryStore({ now: () => environment.now() }));
    const { runtime } = setUp({ store, nodeDefinitions: nodes as never, workflows, checkpointBytes: 2_000 }, environment);
    const run = await runtime.start("ticking", { workflowId: "t" });
    await run.settled();
    for (let count = 0; count < 100; count++) await tick(environment, run, count);
    const { variables: held, context, version } = await run.snapshot();
    expect(held!.count).toEqual([{ value: 100, version: version - 1 }]);
    expect((held!.log![0]!.value as string[]).slice(-2)).toEqual(["at 98", "at 99"]);
    expect(context.tick!.at(-1)).toMatchObject({ output: 99 });
    const fork = await run.fork({ version: version - 30 });
    const { variables: forked, from } = await fork.snapshot();
    expect([forked!.count!.at(-1)!.value, from?.version]).toEqual([90, version - 30]);
    await tick(environment, fork, "other");
    const log = (await fork.snapshot()).variables!.log!.at(-1)!.value as string[];
    expect([log.length, log[90]]).toEqual([91, "at other"]);
    expect((await run.snapshot()).variables!.count!.at(-1)!.value).toBe(100);
  });

  it("are taken over by the next run, with their latest values", async () => {
    const environment = virtualEnvironment();
    const store = wrap(memoryStore({ now: () => environment.now() }));
    const { runtime } = setUp({ store, nodeDefinitions: nodes as never, workflows }, environment);
    const run = await runtime.start("rolling", { workflowId: "r" });
    await run.settled();
    for (let count = 0; count < 8; count++) {
      await tick(environment, run, count);
      await until(environment, async () => (await run.snapshot()).status === "paused");
    }
    const last = await run.snapshot();
    expect(last.run?.number).toBe(3);
    expect(last.variables!.count!.at(-1)!.value).toBe(8);
    expect(last.variables!.rolls).toEqual([{ value: 2, version: last.run!.since }]);
    expect(last.variables!.log!.at(-1)!.value).toHaveLength(8);
  });
});
