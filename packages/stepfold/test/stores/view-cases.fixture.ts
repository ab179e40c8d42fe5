import { expect } from "vitest";
import type { Event } from "../../src/core/snapshot/event.ts";
import { leanHead } from "../../src/core/snapshot/large-values.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../src/ports/snapshot-store.ts";
import { nextRun, reopening, writtenRuns } from "../../src/testing/contract/records/runs.ts";
import { startCommit, stepCommit } from "../../src/testing/index.ts";
import { engineCommits } from "./engine-commits.fixture.ts";

/** A row of the view `workflow_executions`, with the snapshot as JSON text. */
export interface ViewRow {
  readonly id: string;
  readonly snapshot: string;
  readonly status: string;
  readonly version: number;
}

const step = { pathId: "0", nodeId: "toString", attempt: 2, at: 5 };
const inputs = [undefined, null, { zebra: [], apple: null, text: "\u0000\\'\"" }, "text", 1e21, false];

/** Writes executions with every kind of event, and expects that the view shows the snapshot that `load` returns for each of them. */
export async function showsWhatLoadGives(
  store: SnapshotStore,
  { message, outputs, rows }: { message: string; outputs: readonly unknown[]; rows: () => Promise<readonly ViewRow[]> },
): Promise<void> {
  const error = { name: "Error", message };
  const kinds: ((version: number) => Event)[] = [
    (version) => ({ ...step, version, turn: 1, startedAt: 4, type: "failed", error, retryAt: 9 }),
    (version) => ({ version, at: 5, type: "retried", pathId: "0" }),
    (version) => ({ ...step, version, turn: 1, startedAt: 4, type: "failed", error, retryAt: null, handle: "error" }),
    (version) => ({ ...step, version, type: "timedOut", waitId: "0@1", error, handle: "timeout" }),
    (version) => ({ version, at: 5, type: "cancelled" }),
  ];
  for (const [index, input] of inputs.entries()) {
    const nodeId = index % 2 ? "x" : "step";
    let last = startCommit(`id "${index}"`, { ...(input === undefined ? {} : { input }), metadata: { index, "a.b": null } });
    await store.create(last);
    for (const change of [...outputs.map((output) => ({ output, nodeId })), ...kinds.map((event) => ({ event }))]) {
      last = stepCommit(last, change as Parameters<typeof stepCommit>[1]);
      await store.commit(last);
    }
  }
  await store.create(startCommit("bare", { status: "completed" }));
  const waits = [{ kind: "external", nodeId: "ask", responders: ["ada"] }] as const;
  await store.create(startCommit("only waits", { status: "paused", waits }));
  await store.create(startCommit("waits", { status: "paused", waits, metadata: { zebra: [1, 2.5], apple: null, '"': "\\" } }));
  const shownRows = await rows();
  expect(shownRows.length).toBe(inputs.length + 3);
  for (const row of shownRows) {
    const loaded = (await store.load(row.id))!;
    const shown = JSON.parse(row.snapshot) as Snapshot;
    expect(shown).toEqual(loaded);
    expect(JSON.stringify([shown.input, shown.metadata, shown.context])).toBe(
      JSON.stringify([loaded.input, loaded.metadata, loaded.context]),
    );
    expect([row.status, row.version]).toEqual([loaded.status, loaded.version]);
  }
}

/** Writes executions of several runs, one of them trimmed, and expects that the view shows the present run as `load` does. */
export async function showsPresentRun(store: SnapshotStore, snapshotOf: (id: string) => Promise<string>): Promise<void> {
  const definition = { id: "contract", hash: "another" };
  for (const id of ["whole", "trimmed"]) {
    const commits = await writtenRuns(store, id, [10]);
    const next = nextRun(commits, { at: 20, outputs: ["last"], input: { third: true } });
    const events = next.events.map((event) => (event.type === "continued" ? { ...event, definition } : event));
    await store.commit({ ...next, events, head: { ...next.head, definition }, checkpoint: { ...next.checkpoint!, definition } });
    if (id === "trimmed") await store.trim({ before: 100 });
    for (const output of [null, "one", "two"]) {
      if (output) await store.commit(stepCommit((await store.load(id))!, { output }));
      expect(JSON.parse(await snapshotOf(id))).toEqual(await store.load(id));
    }
    await store.commit(stepCommit((await store.load(id))!, { status: "failed" }));
    const again = reopening({ ...next, head: (await store.load(id))! });
    await store.commit(again);
    expect(JSON.parse(await snapshotOf(id))).toEqual(await store.load(id));
  }
  // a run that begins with the second event
  const first = startCommit("short", { input: "first" });
  await store.create(first);
  await store.commit(nextRun([first], { at: 10 }));
  expect(JSON.parse(await snapshotOf("short"))).toEqual(await store.load("short"));
}

/** The part of a snapshot that the view shows: without variables, keys of answers, schemas of payloads, and large values in the events. */
export function viewOf({ answered: _, variables: __, schemas: ___, ...loaded }: Snapshot): Snapshot {
  const { childStates } = loaded;
  const children = Object.entries(childStates ?? {}).map(([key, { variables: _, ...child }]) => [key, leanHead(child)]);
  return leanHead({ ...loaded, ...(childStates && { childStates: Object.fromEntries(children) }) });
}

/** Runs random workflows with children, maps and compensations, and expects that the view shows the snapshot of `load` at every version. */
export async function showsEveryVersion(store: SnapshotStore, snapshotOf: (id: string) => Promise<string>): Promise<void> {
  const seen = { nested: 0, kept: 0, items: 0, open: 0, draining: 0, undone: 0 };
  for (let seed = 0; seed < 60; seed++) {
    const id = `id-${seed}`;
    for (const commit of engineCommits(id, seed)) {
      await (commit.expectedVersion < 0 ? store.create(commit) : store.commit(commit));
      const loaded = viewOf((await store.load(id))!);
      const shown = JSON.parse(await snapshotOf(id)) as Snapshot;
      expect(shown).toEqual(loaded);
      for (const part of ["context", "mapItems"] as const) expect(JSON.stringify(shown[part])).toBe(JSON.stringify(loaded[part]));
      const { childStates = {}, activePaths, mapItems, compensations } = loaded;
      expect(Object.keys(shown.childStates ?? {})).toEqual(Object.keys(childStates));
      seen.nested += Number(Object.keys(childStates).some((key) => key.includes(">")));
      seen.kept += Number(Object.values(childStates).some(({ kept }) => kept));
      seen.items += Number(mapItems !== undefined);
      seen.open += Number(activePaths.some(({ children }) => children?.map?.open));
      seen.draining += Number(activePaths.some(({ draining }) => draining));
      seen.undone += Number(compensations !== undefined);
    }
  }
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(3);
}
