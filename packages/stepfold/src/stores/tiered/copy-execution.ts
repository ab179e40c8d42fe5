import { type ChildHead, isTerminal, type Snapshot } from "../../core/snapshot/snapshot.ts";
import { canonicalJson } from "../../core/values/canonical-json.ts";
import type { Json } from "../../core/values/json.ts";
import type { AppendedRow, ChangedChild, Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import { commitsIn, firstRow, historyOf, incarnationIn } from "./history.ts";
import { isCopy, markedHead, type Times, unmarked } from "./moved-copy.ts";

/** The two homes of executions. */
export interface Tiers {
  readonly hot: SnapshotStore;
  readonly cold: SnapshotStore;
}

/**
 * Makes the cold store hold an ended execution of the hot one: every commit again, with its id, so that a copy that broke
 * off goes on where it was, and copies that race write the same. Until the last commit the copy counts as open, and
 * nobody shows it.
 *
 * @returns whether the cold store now has all of it; false if the hot one no longer has it, or it has not ended
 * @throws StepfoldError `WORKFLOW_EXISTS` if the cold store has, or had, another execution of this id
 */
export async function copyExecution({ hot, cold }: Tiers, workflowId: string, times: Times): Promise<boolean> {
  const [snapshot, rows] = [await hot.load(workflowId), await historyOf(hot, workflowId)];
  if (!snapshot || !isTerminal(snapshot.status) || rows.at(-1)?.version !== snapshot.version) return false;
  const definition = await hot.getDefinition(snapshot.definition.hash);
  if (definition) await cold.putDefinition(snapshot.definition.hash, definition);

  const before = await historyOf(cold, workflowId);
  const isSame = before[0] !== undefined && incarnationIn(before[0]) === snapshot.incarnation;
  const there = isSame ? before.at(-1)!.version : -1;
  for (const commit of commitsOf(snapshot, rows, times)) {
    if (commit.head.version <= there) continue;
    // the last makes it an execution that counts: not if it was deleted meanwhile
    const first = isTerminal(commit.head.status) ? await firstRow(hot, workflowId) : rows[0];
    if (!first || incarnationIn(first) !== snapshot.incarnation) return false;
    if (commit.expectedVersion === -1) await cold.create(commit);
    else await cold.commit(commit);
  }
  return isCopied(cold, snapshot, rows);
}

/** The commits that make the execution in another store. Only the last has the head: the history does not hold earlier ones. */
function commitsOf(snapshot: Snapshot, rows: readonly AppendedRow[], times: Times): Commit[] {
  const { context: _, childStates, mapItems: __, compensations: ___, ...whole } = snapshot;
  const head = markedHead(whole, times);
  return commitsIn(rows).map((group): Commit => {
    const version = group.at(-1)!.version;
    const isLast = version === snapshot.version;
    return {
      workflowId: snapshot.workflowId,
      incarnation: snapshot.incarnation ?? "",
      expectedVersion: group[0]!.version - 1,
      commitId: group[0]!.commitId,
      head: isLast ? head : { ...head, version, status: "paused", currentNodeId: null, activePaths: [] },
      events: group.map(({ event }) => event),
      ...(isLast && { children: childrenOf(childStates) }),
      wakeAt: null,
    };
  });
}

function childrenOf(childStates: Snapshot["childStates"] = {}): ChangedChild[] {
  return Object.entries(childStates).map(([key, { context: _, ...head }]) => ({ key, head: head satisfies ChildHead }));
}

/** Nothing is deleted that could not be read again; nor if both stores are the same, where it is no copy. */
async function isCopied(cold: SnapshotStore, snapshot: Snapshot, rows: readonly AppendedRow[]): Promise<boolean> {
  const copy = await cold.load(snapshot.workflowId);
  if (!copy || !isCopy(copy) || !isSameJson(unmarked(copy), snapshot)) return false;
  return isSameJson(await historyOf(cold, snapshot.workflowId), rows);
}

function isSameJson(a: unknown, b: unknown): boolean {
  return canonicalJson(a as Json) === canonicalJson(b as Json);
}
