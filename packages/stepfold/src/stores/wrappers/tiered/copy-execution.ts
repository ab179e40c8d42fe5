import { historyCheckpoint } from "../../../core/snapshot/history-checkpoint.ts";
import { type ChildHead, isTerminal, type Snapshot, type SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { snapshotHead } from "../../../core/snapshot/snapshot-head.ts";
import { listedWaitsOf } from "../../../core/transition/draft/listed-waits.ts";
import { canonicalJson } from "../../../core/values/canonical-json.ts";
import type { Json } from "../../../core/values/json.ts";
import { readHistory } from "../../../ports/read-history.ts";
import type { AppendedRow, ChangedChild, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { firstRow, incarnationIn, incarnationOf } from "../values/read-all.ts";
import { copyHead, isCopy, partialHead, type Times, withoutMarks } from "./cold-copy.ts";
import { deletePartialCopy } from "./partial-copies.ts";
import { copyKeys } from "./tier-keys.ts";
import type { Tiers } from "./tiers.ts";

/** An execution in the hot store: its snapshot and its whole history. */
export interface Original {
  readonly snapshot: Snapshot;
  readonly rows: readonly AppendedRow[];
}

/** Reads an execution and its history at one version; null if it does not exist, or changes at this moment. */
export async function originalOf(hot: SnapshotStore, workflowId: string): Promise<Original | null> {
  const [snapshot, rows] = [await hot.load(workflowId), await readHistory(hot, workflowId)];
  return snapshot && rows.at(-1)?.version === snapshot.version ? { snapshot, rows } : null;
}

/**
 * Copies an execution that has ended to the cold store. The copy is partial until its last commit.
 *
 * @returns true if the cold store has a complete copy; false if the execution has not ended, is no longer in the hot store, or if the copy
 * that is read back differs from it
 * @throws StepfoldError `WORKFLOW_EXISTS` if the cold store has another execution of this id
 */
export async function copyEnded(tiers: Tiers, { snapshot, rows }: Original, times: Times): Promise<boolean> {
  const { hot, cold } = tiers;
  if (!isTerminal(snapshot.status)) return false;
  await copyDefinition(tiers, snapshot);
  await copyKeys(hot, cold, snapshot);
  const { workflowId } = snapshot;
  const head = copyHead(snapshotHead(snapshot), times);
  // the last commit completes the copy, so it is not made if the execution was deleted meanwhile
  const isInHot = async (): Promise<boolean> => (await incarnationOf(hot, workflowId)) === (snapshot.incarnation ?? "");
  if (!(await copyRows(cold, snapshot, rows, { head, wakeAt: null }, isInHot))) return false;
  // checks that the copy can be read before the original is deleted. If both stores are the same database, this finds no copy
  const copy = await cold.load(workflowId);
  if (copy === null || !isCopy(copy) || !isSameState(withoutMarks(copy), snapshot)) return false;
  // an interrupted move may have copied events that were trimmed since
  const last = lastTrimmed(rows);
  const copied = (await readHistory(cold, workflowId)).filter(({ version }) => version === 0 || version > last);
  return isSameJson(copied, rows);
}

/** Copies the definition of an execution, so that the cold store can be read alone. */
export async function copyDefinition({ hot, cold }: Tiers, { definition: { hash } }: Snapshot): Promise<void> {
  const definition = await hot.getDefinition(hash);
  if (definition) await cold.putDefinition(hash, definition, { listedAs: null });
}

/** Returns the last version that was trimmed; 0: the history is whole. */
export function lastTrimmed(rows: readonly AppendedRow[]): number {
  return (rows[1]?.version ?? 1) - 1;
}

/**
 * Repeats the commits of an execution in another store, with their ids. So an interrupted copy continues with the next commit, and two
 * concurrent copies write the same. Only the head of the last commit is the real one, because the history does not hold earlier heads.
 *
 * The store may have the same execution as it was before it went on: that was moved there, and then opened again in the hot store.
 *
 * @param mayEnd called just before the last commit: false prevents it
 * @param partial makes the head of every other commit
 * @returns false if the last commit was prevented
 */
export async function copyRows(
  cold: SnapshotStore,
  snapshot: Snapshot,
  rows: readonly AppendedRow[],
  last: Pick<Commit, "head" | "wakeAt">,
  mayEnd: () => Promise<boolean> = async () => true,
  partial: (head: SnapshotHead, version: number) => SnapshotHead = partialHead,
): Promise<boolean> {
  const { workflowId, incarnation = "" } = snapshot;
  const trimmed = lastTrimmed(rows);
  const old = await oldCopy(cold, workflowId, incarnation, trimmed);
  const waits = isTerminal(snapshot.status) ? [] : listedWaitsOf(snapshot);
  // an interrupted copy may have children that the execution no longer has, or that have another order: they are deleted first
  const oldChildren = Object.keys(old?.childStates ?? {});
  let isEnded = old !== null && isTerminal(old.status);
  for (const group of groupByCommit(rows.filter(({ version }) => version > (old?.version ?? -1)))) {
    const version = group.at(-1)!.version;
    const first = group[0]!.version;
    const isLast = version === rows.at(-1)!.version;
    if (isLast && !(await mayEnd())) return false;
    const isAfterTrim = trimmed > 0 && first === trimmed + 1;
    const commit: Commit = {
      workflowId,
      incarnation,
      expectedVersion: isAfterTrim ? 0 : first - 1,
      commitId: group[0]!.commitId,
      events: group.map(({ event }) => event),
      ...(isEnded && { reopens: true }),
      ...(isAfterTrim && { afterTrim: true }),
      // a history with a gap can only be loaded from a checkpoint, and earlier runs can only be trimmed with one. Before the last commit, only
      // the head of the copy is of interest
      ...((isAfterTrim || (snapshot.run && first > 0 && version === snapshot.version)) && {
        checkpoint: { ...historyCheckpoint(snapshot), version },
      }),
      ...(isLast
        ? {
            ...last,
            ...(waits.length > 0 && { waits }),
            children: [...oldChildren.map((key) => ({ key, head: null })), ...childHeads(snapshot)],
          }
        : { head: partial(last.head, version), wakeAt: null }),
    };
    // the execution lives, so a tombstone of an earlier copy does not keep its id taken
    if (commit.expectedVersion === -1) await cold.create({ ...commit, reusesId: true });
    else await cold.commit(commit);
    isEnded = isTerminal(commit.head.status);
  }
  return true;
}

/** Loads what a store has of an execution already. A partial copy that lacks events which were trimmed since cannot be continued. */
async function oldCopy(cold: SnapshotStore, workflowId: string, incarnation: string, trimmed: number): Promise<Snapshot | null> {
  const row = await firstRow(cold, workflowId);
  const copy = row && incarnationIn(row) === incarnation ? await cold.load(workflowId) : null;
  if (!copy || copy.version === 0 || copy.version >= trimmed) return copy;
  await deletePartialCopy(cold, workflowId);
  return null;
}

/** Groups rows by the commit that wrote them. */
function groupByCommit(rows: readonly AppendedRow[]): AppendedRow[][] {
  const groups: AppendedRow[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last?.[0]?.commitId === row.commitId) last.push(row);
    else groups.push([row]);
  }
  return groups;
}

/** Returns the heads of the children in a snapshot, without their results. */
export function childHeads({ childStates = {} }: Snapshot): ChangedChild[] {
  return Object.entries(childStates).map(([key, { context: _, variables: __, ...head }]) => ({ key, head: head satisfies ChildHead }));
}

/** Returns true if two snapshots have equal heads and children. Results are ignored: a snapshot from a checkpoint has fewer old ones. */
export function isSameState(a: Snapshot, b: Snapshot): boolean {
  return isSameJson(snapshotHead(a), snapshotHead(b)) && isSameJson(childHeads(a), childHeads(b));
}

/** Returns true if two values are equal as JSON. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return canonicalJson(a as Json) === canonicalJson(b as Json);
}
