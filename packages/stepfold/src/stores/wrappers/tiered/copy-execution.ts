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

/** An execution as the hot store has it. */
export interface Original {
  readonly snapshot: Snapshot;
  readonly rows: readonly AppendedRow[];
}

/** Reads an execution and its history as of one version; null if there is none, or it changes right now. */
export async function originalOf(hot: SnapshotStore, workflowId: string): Promise<Original | null> {
  const [snapshot, rows] = [await hot.load(workflowId), await readHistory(hot, workflowId)];
  return snapshot && rows.at(-1)?.version === snapshot.version ? { snapshot, rows } : null;
}

/**
 * Copies an execution that has ended to the cold store. The copy is partial until its last commit.
 *
 * @returns whether the cold store has all of it; false if it has not ended, or the hot store no longer has it
 * @throws StepfoldError `WORKFLOW_EXISTS` if the cold store has, or had, another execution of this id
 */
export async function copyEnded(tiers: Tiers, { snapshot, rows }: Original, times: Times): Promise<boolean> {
  const { hot, cold } = tiers;
  if (!isTerminal(snapshot.status)) return false;
  await copyDefinition(tiers, snapshot);
  const { workflowId } = snapshot;
  const head = copyHead(snapshotHead(snapshot), times);
  // after the last commit the execution is in the cold store: not if it was deleted meanwhile
  const isInHot = async (): Promise<boolean> => (await incarnationOf(hot, workflowId)) === (snapshot.incarnation ?? "");
  if (!(await copyRows(cold, snapshot, rows, { head, wakeAt: null }, isInHot))) return false;
  // nothing is deleted that cannot be read again. If both stores are the same database, what is read is no copy
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
 * Repeats the commits of an execution in the cold store, with their ids: an interrupted copy goes on with the next commit, and
 * two copies at the same time write the same. Only the last commit has a head that matters: the history does not hold earlier heads.
 *
 * @param mayEnd asked just before the last commit is made
 * @returns false if the last commit was not to be made
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
  // an interrupted copy may have children that the execution no longer has, or has in another order
  const waits = isTerminal(snapshot.status) ? [] : listedWaitsOf(snapshot);
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

/** Takes the heads of the children out of a snapshot, without their results. */
export function childHeads({ childStates = {} }: Snapshot): ChangedChild[] {
  return Object.entries(childStates).map(([key, { context: _, variables: __, ...head }]) => ({ key, head: head satisfies ChildHead }));
}

/** Tells whether two snapshots are the same, but for what lies in the history: one that was loaded from a checkpoint holds fewer old results. */
export function isSameState(a: Snapshot, b: Snapshot): boolean {
  return isSameJson(snapshotHead(a), snapshotHead(b)) && isSameJson(childHeads(a), childHeads(b));
}

/** Tells whether two values are the same as JSON. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return canonicalJson(a as Json) === canonicalJson(b as Json);
}
