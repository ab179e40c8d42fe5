import { type ChildHead, isTerminal, type Snapshot } from "../../../core/snapshot/snapshot.ts";
import { snapshotHead } from "../../../core/snapshot/snapshot-head.ts";
import { listedWaitsOf } from "../../../core/transition/draft/listed-waits.ts";
import { canonicalJson } from "../../../core/values/canonical-json.ts";
import type { Json } from "../../../core/values/json.ts";
import { readHistory } from "../../../ports/read-history.ts";
import type { AppendedRow, ChangedChild, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { incarnationIn, incarnationOf } from "../values/read-all.ts";
import { copyHead, isCopy, partialHead, type Times, withoutMarks } from "./cold-copy.ts";
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
 * @throws StepfoldError `WORKFLOW_EXISTS` if the cold store has, or had, another execution of this id
 */
export async function copyEnded(tiers: Tiers, { snapshot, rows }: Original, times: Times): Promise<boolean> {
  const { hot, cold } = tiers;
  if (!isTerminal(snapshot.status)) return false;
  await copyDefinition(tiers, snapshot);
  const { workflowId } = snapshot;
  const head = copyHead(snapshotHead(snapshot), times);
  // the last commit completes the copy, so it is not made if the execution was deleted meanwhile
  const isInHot = async (): Promise<boolean> => (await incarnationOf(hot, workflowId)) === (snapshot.incarnation ?? "");
  if (!(await copyRows(cold, snapshot, rows, { head, wakeAt: null }, isInHot))) return false;
  // checks that the copy can be read before the original is deleted. If both stores are the same database, this finds no copy
  const copy = await cold.load(workflowId);
  return (
    copy !== null && isCopy(copy) && isSameState(withoutMarks(copy), snapshot) && isSameJson(await readHistory(cold, workflowId), rows)
  );
}

/** Copies the definition of an execution, so that the cold store can be read alone. */
export async function copyDefinition({ hot, cold }: Tiers, { definition: { hash } }: Snapshot): Promise<void> {
  const definition = await hot.getDefinition(hash);
  if (definition) await cold.putDefinition(hash, definition, { listedAs: null });
}

/**
 * Repeats the commits of an execution in the cold store, with their ids. So an interrupted copy continues with the next commit, and two
 * concurrent copies write the same. Only the head of the last commit is the real one, because the history does not hold earlier heads.
 *
 * @param mayEnd called just before the last commit: false prevents it
 * @returns false if the last commit was prevented
 */
export async function copyRows(
  cold: SnapshotStore,
  snapshot: Snapshot,
  rows: readonly AppendedRow[],
  last: Pick<Commit, "head" | "wakeAt">,
  mayEnd: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  const { workflowId, incarnation = "" } = snapshot;
  const copied = await readHistory(cold, workflowId);
  const isSame = copied[0] !== undefined && incarnationIn(copied[0]) === incarnation;
  const copiedVersion = isSame ? copied.at(-1)!.version : -1;
  const waits = isTerminal(snapshot.status) ? [] : listedWaitsOf(snapshot);
  // an interrupted copy may have children that the execution no longer has, or that have another order: they are deleted first
  const oldChildren = isSame ? Object.keys((await cold.load(workflowId))?.childStates ?? {}) : [];
  for (const group of groupByCommit(rows.filter(({ version }) => version > copiedVersion))) {
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
        ? {
            ...last,
            ...(waits.length > 0 && { waits }),
            children: [...oldChildren.map((key) => ({ key, head: null })), ...childHeads(snapshot)],
          }
        : { head: partialHead(last.head, version), wakeAt: null }),
    };
    if (commit.expectedVersion === -1) await cold.create(commit);
    else await cold.commit(commit);
  }
  return true;
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
