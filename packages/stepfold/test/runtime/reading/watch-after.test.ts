import { afterEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import type { Watched } from "../../../src/runtime/handle/watch.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, nodeDefinitions, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const edge = (source: string, target: string, sourceHandle?: string): object => ({ source, target, ...(sourceHandle && { sourceHandle }) });
/** Says something, goes on twice, and then waits for an answer. */
const loop = {
  id: "loop",
  nodes: [
    { id: "say", type: "say" },
    { id: "more", type: "if", data: { condition: "{{ input.n < 2 }}" } },
    { id: "again", type: "end", data: { continueAs: { input: { n: "{{ input.n + 1 }}" } } } },
    { id: "ask", type: "ask" },
    { id: "late", type: "say" },
  ],
  edges: [edge("say", "more"), edge("more", "again", "true"), edge("more", "ask", "false"), edge("ask", "late")],
};

/** Starts the loop on a store that counts the rows of events it returns. */
async function started() {
  const environment = virtualEnvironment();
  const inner = memoryStore({ now: () => environment.now() });
  const read: number[] = [];
  const store: SnapshotStore = {
    ...inner,
    events: async (...query) => {
      const rows = await inner.events(...query);
      read.push(...rows.map(({ version }) => version));
      return rows;
    },
  };
  const { runtime } = setUp({ store, workflows: [loop as never], nodeDefinitions: { ...builtinNodes, ...nodeDefinitions } }, environment);
  const run = await runtime.start("loop", { input: { n: 0 } });
  return { run, store, read, snapshot: await run.settled() };
}

/** Takes the next events of a watch, with the snapshots after them. */
async function take(watched: AsyncGenerator<Watched, void, void>, count: number): Promise<unknown[]> {
  const taken: unknown[] = [];
  for (let left = count; left > 0; left--) {
    const { value } = await watched.next();
    // the size of the whole history is known only where all of it was read
    const { historyBytes: _, ...snapshot } = value?.snapshot ?? ({} as Snapshot);
    taken.push(value && [value.event, snapshot, [...value.activePaths.keys()]]);
  }
  await watched.return();
  return taken;
}

async function end(run: Run): Promise<void> {
  await run.resume({ payload: { approved: true } });
  await run.result();
}

describe("a watch that begins after a version", () => {
  it("gives the same events and snapshots as one from the beginning", async () => {
    const { run, snapshot } = await started();
    await end(run);
    const { version } = await run.snapshot();
    const all = await take(run.watch(), version + 1);
    for (let after = -1; after <= version; after++) expect(await take(run.watch({ after }), version - after)).toEqual(all.slice(after + 1));
    expect((await run.watch({ after: version }).next()).done).toBe(true);
    expect(snapshot.run!.number).toBe(3);
  });

  it("reads nothing older than the present run, and only what is new if the caller knows the present version", async () => {
    const { run, read, snapshot } = await started();
    const { version } = snapshot;
    const since = snapshot.run!.since;
    for (const [after, oldest] of [
      [version, version],
      [version - 1, since],
      [since, since],
    ] as const) {
      read.length = 0;
      const watched = run.watch({ after });
      const next = watched.next();
      if (after === version) await run.setMetadata({ seen: true });
      await next;
      expect(Math.min(...read.filter((row) => row > 0))).toBe(oldest);
      await watched.return();
    }
  });

  it("goes on with what comes, after all that was known", async () => {
    const { run, snapshot } = await started();
    const watched = run.watch({ after: snapshot.version });
    const first = watched.next();
    await end(run);
    const versions = [(await first).value!.event.version];
    for await (const { event } of watched) versions.push(event.version);
    const { version } = await run.snapshot();
    expect(versions).toEqual(Array.from({ length: version - snapshot.version }, (_, index) => snapshot.version + 1 + index));
  });

  it("waits for a version that does not exist yet", async () => {
    const { run, snapshot } = await started();
    const watched = run.watch({ after: snapshot.version + 1 });
    const first = watched.next();
    await end(run);
    expect((await first).value!.event.version).toBe(snapshot.version + 2);
    await watched.return();
  });
});
