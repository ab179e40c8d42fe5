import { type ChildHead, isTerminal, type Snapshot, type SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { canonicalJson } from "../../../core/values/canonical-json.ts";
import type { Json } from "../../../core/values/json.ts";
import type { AppendedRow, ChangedChild, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { commitsIn, firstRow, historyOf, incarnationIn } from "../values/read-all.ts";
import { isCopy, markedHead, type Times, unfinishedHead, unmarked } from "./cold-copy.ts";

/** The two homes of executions. */
export interface Tiers {
  readonly hot: SnapshotStore;
  readonly cold: SnapshotStore;
}

/** An execution as the hot store has it. */
export interface Original {
  readonly snapshot: Snapshot;
  readonly rows: readonly AppendedRow[];
}

/** The execution and its history, of one version; null if there is none, or it is just being changed. */
export async function originalOf(hot: SnapshotStore, workflowId: string): Promise<Original | null> {
  const [snapshot, rows] = [await hot.load(workflowId), await historyOf(hot, workflowId)];
  return snapshot && rows.at(-1)?.version === snapshot.version ? { snapshot, rows } : null;
}

/**
 * Makes the cold store hold an ended execution of the hot one. Until the last commit the copy counts as open, and nobody
 * shows it.
 *
 * @returns whether the cold store now has all of it; false if the hot one no longer has it, or it has not ended
 * @throws StepfoldError `WORKFLOW_EXISTS` if the cold store has, or had, another execution of this id
 */
export async function copyEnded(tiers: Tiers, { snapshot, rows }: Original, times: Times): Promise<boolean> {
  const { hot, cold } = tiers;
  if (!isTerminal(snapshot.status)) return false;
  await copyDefinition(tiers, snapshot);
  const { workflowId } = snapshot;
  const head = markedHead(headOf(snapshot), times);
  // the last commit makes it an execution that counts: not if it was deleted meanwhile
  const isThere = async (): Promise<boolean> => {
    const first = await firstRow(hot, workflowId);
    return first !== undefined && incarnationIn(first) === snapshot.incarnation;
  };
  if (!(await copyRows(cold, snapshot, rows, { head, wakeAt: null }, isThere))) return false;
  // nothing is deleted that could not be read again; nor if both stores are the same, where it is no copy
  const copy = await cold.load(workflowId);
  return copy !== null && isCopy(copy) && isSameJson(unmarked(copy), snapshot) && isSameJson(await historyOf(cold, workflowId), rows);
}

/** The definition goes along: the cold store can be read alone. */
export async function copyDefinition({ hot, cold }: Tiers, { definition: { hash } }: Snapshot): Promise<void> {
  const definition = await hot.getDefinition(hash);
  if (definition) await cold.putDefinition(hash, definition);
}

/**
 * Makes every commit again, with its id, so that a copy that broke off goes on where it was, and copies that race write
 * the same. Only the last has a head that tells: the history does not hold earlier ones.
 *
 * @returns false if the last was not to be made
 */
export async function copyRows(
  cold: SnapshotStore,
  snapshot: Snapshot,
  rows: readonly AppendedRow[],
  last: Pick<Commit, "head" | "wakeAt">,
  mayEnd: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  const { workflowId, incarnation = "" } = snapshot;
  const before = await historyOf(cold, workflowId);
  const isSame = before[0] !== undefined && incarnationIn(before[0]) === incarnation;
  const there = isSame ? before.at(-1)!.version : -1;
  // children of a copy that broke off before: they may be gone since, or in another order
  const gone = isSame ? Object.keys((await cold.load(workflowId))?.childStates ?? {}) : [];
  for (const group of commitsIn(rows.filter(({ version }) => version > there))) {
    const version = group.at(-1)!.version;
    const isLast = version === rows.at(-1)!.version;
    if (isLast && !(await mayEnd())) return false;
    const commit: Commit = {
      workflowId,
      incarnation,
      expectedVersion: group[0]!.version - 1,
      commitId: group[0]!.commitId,
      events: group.map(({ event }) => event),
      ...(isLast
        ? { ...last, children: [...gone.map((child) => ({ key: child, head: null })), ...childrenOf(snapshot)] }
        : { head: unfinishedHead(last.head, version), wakeAt: null }),
    };
    if (commit.expectedVersion === -1) await cold.create(commit);
    else await cold.commit(commit);
  }
  return true;
}

/** A snapshot without what a store keeps apart. */
export function headOf(snapshot: Snapshot): SnapshotHead {
  const { context: _, childStates: __, mapItems: ___, compensations: ____, ...head } = snapshot;
  return head;
}

/** The heads of its children, without their results. */
export function childrenOf({ childStates = {} }: Snapshot): ChangedChild[] {
  return Object.entries(childStates).map(([key, { context: _, ...head }]) => ({ key, head: head satisfies ChildHead }));
}

/** True for two that are the same as JSON. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return canonicalJson(a as Json) === canonicalJson(b as Json);
}
