import { expect } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { readHistory } from "../../../src/ports/read-history.ts";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/index.ts";
import { type TieredStore, tieredStore } from "../../../src/stores/wrappers/tiered/index.ts";
import type { Tiers } from "../../../src/stores/wrappers/tiered/tiers.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";

export const hour = 3_600_000;

/** Two stores in memory on one clock, and the tiered store over them. */
export function setUp() {
  let time = 1_000_000;
  const now = () => time;
  const [hot, cold] = [memoryStore({ now, idempotencyRetentionMs: hour }), memoryStore({ now, idempotencyRetentionMs: hour })];
  const pass = (durationMs: number): void => {
    time += durationMs;
  };
  const over = (tiers: Tiers): TieredStore => tieredStore({ hot: tiers.hot, cold: tiers.cold, coldAfterMs: hour, now });
  return { hot, cold, pass, now, over, store: over({ hot, cold }) };
}

const child = { workflow: "inner", status: "completed", currentNodeId: null, activePaths: [], version: 2, kept: true } as const;

/** The three commits of an execution that ends. */
export function ended(id: string, more: Parameters<typeof startCommit>[1] = {}): [Commit, Commit, Commit] {
  const first = startCommit(id, { input: { id }, metadata: { id }, ...more });
  const second = stepCommit(first, { outputs: [1, { two: 2 }], children: [{ key: "0#1", head: child }] });
  return [first, second, stepCommit(second, { output: "end", status: "completed" })];
}

/** The three commits of an execution that waits after them. The last commit has two versions, and there is a child. */
export function waiting(id: string, wakeAt: number | null = null): [Commit, Commit, Commit] {
  const first = startCommit(id, { input: { id }, metadata: { id } });
  const second = stepCommit(first, { output: "one", children: [{ key: "0#1", head: child }] });
  return [first, second, stepCommit(second, { outputs: [{ two: 2 }, "three"], status: "paused", wakeAt })];
}

/** Creates an execution with the first commit, and makes the other commits. */
export async function write(store: SnapshotStore, [first, ...rest]: readonly Commit[]): Promise<void> {
  await store.create(first!);
  for (const commit of rest) await store.commit(commit);
}

/** The ids of a list, which is read page by page. */
export async function listed(store: SnapshotStore, query: Parameters<SnapshotStore["list"]>[0] = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.list({ ...query, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.items.map(({ workflowId }) => workflowId));
    cursor = page.nextCursor;
  }
  return ids;
}

/** Wraps both stores so that `interrupt` runs before or after one call: the call number `position` of all calls to both, from 0. */
export function interrupted(tiers: Tiers, position: number, when: "before" | "after", interrupt: () => Promise<void>) {
  let calls = 0;
  const wrap = (inner: SnapshotStore): SnapshotStore =>
    new Proxy(inner, {
      get(target, name: keyof SnapshotStore) {
        const member = target[name];
        if (typeof member !== "function") return member;
        return async (...given: unknown[]) => {
          const isNow = calls++ === position;
          if (isNow && when === "before") await interrupt();
          const answer = await (member as (...given: unknown[]) => unknown)(...given);
          if (isNow && when === "after") await interrupt();
          return answer;
        };
      },
    });
  return { hot: wrap(tiers.hot), cold: wrap(tiers.cold), made: () => calls };
}

/** Wraps both stores so that one call fails, before or after it is made. */
export function crashing(tiers: Tiers, position: number, when: "before" | "after") {
  return interrupted(tiers, position, when, async () => {
    throw new TypeError("crash");
  });
}

/** Answers an execution as a runtime does: it decides again if another writer was first. */
export async function answer(store: SnapshotStore, id: string): Promise<void> {
  for (;;) {
    const commit = stepCommit((await store.load(id))!, { output: "answer", wakeAt: 0 });
    const refused = await store.commit(commit).catch((error: unknown) => error);
    if (refused === undefined) return;
    if (!StepfoldError.is(refused, "VERSION_CONFLICT")) throw refused;
  }
}

/** Expects that all executions can be read completely, and that lists have each of them exactly once. */
export async function check(store: SnapshotStore, executions: readonly (readonly Commit[])[]): Promise<void> {
  for (const commits of executions) {
    const { workflowId } = commits[0]!;
    expect(await store.load(workflowId)).toEqual(snapshotAfter(...commits));
    // page by page, because a page may end where a copy that is being made ends
    const events = (await readHistory(store, workflowId)).map(({ event, commitId }) => ({ event, commitId }));
    expect(events).toEqual(commits.flatMap(({ events: made, commitId }) => made.map((event) => ({ event, commitId }))));
    for (const commit of commits.slice(1)) await store.commit(commit);
    await expect(store.create({ ...commits[0]!, commitId: "other" })).rejects.toMatchObject({ code: "WORKFLOW_EXISTS" });
  }
  const ids = executions.map(([first]) => first!.workflowId);
  for (const limit of [1, 2, 50]) expect((await listed(store, { limit })).sort()).toEqual(ids);
  const open = executions.filter((commits) => commits.at(-1)!.head.status === "paused");
  expect((await listed(store, { status: ["paused"] })).sort()).toEqual(open.map(([first]) => first!.workflowId));
  expect(await listed(store, { status: ["error", "cancelled"] })).toEqual([]);
}

/** Runs one move for every call that a move makes. `meanwhile` runs before or after this call, and `afterwards` after the move. */
export async function atEveryCall(
  meanwhile: (around: ReturnType<typeof setUp> & { other: TieredStore; commits: Commit[] }) => Promise<void>,
  afterwards: (around: ReturnType<typeof setUp> & { other: TieredStore; commits: Commit[] }) => Promise<void>,
): Promise<void> {
  for (const when of ["before", "after"] as const) {
    for (let position = 0; ; position++) {
      const around = setUp();
      const { store: other, hot, cold, pass, over } = around;
      const commits = waiting("a", 9 * hour);
      await write(other, commits);
      pass(hour);
      const all = { ...around, other, commits };
      const tiers = interrupted({ hot, cold }, position, when, () => meanwhile(all));
      await over(tiers).move();
      if (tiers.made() <= position) break;
      await afterwards(all);
      pass(hour);
      await other.move();
      await other.move();
      expect(await listed(hot, { status: ["completed", "failed", "cancelled"] })).toEqual([]);
    }
  }
}
