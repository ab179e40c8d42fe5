import type { CompiledNode } from "../definition/compiled.ts";
import type { ActivePath } from "../snapshot/snapshot.ts";
import type { Draft, JoinGroup, ScopeDraft } from "../transition/draft/draft.ts";
import { scopeAt } from "../transition/draft/open-draft.ts";
import { emptyEdges, pendingPaths } from "../transition/joins/pending.ts";
import { addressMark, quoted } from "./explain-marks.ts";
import { counted, cut, listed } from "./explain-words.ts";

/** The largest length of a condition in a sentence, in characters. */
const maxConditionLength = 100;

/** Says for which branches a path waits at a join, as a sentence without its subject. @param draft null if the workflow is not known */
export function joinText(draft: Draft | null, scopeKey: string, { id }: ActivePath): string {
  if (!draft) return "waits for other branches";
  const scope = scopeAt(draft, scopeKey)!;
  // a joining path always waits in a group
  const group = [...scope.groups!.values()].find(({ waiting }) => waiting.some((path) => path.id === id))!;
  const { join, roundEdges, waiting, waitingByEdge } = group;
  if (roundEdges) return `waits for the next round of the join; in the current round, ${branches(scope, group)} may still arrive`;
  if (join.count === "all") return `waits for ${branches(scope, group)}`;
  const count = join.threads ? waiting.length : waitingByEdge.size;
  if (count >= join.count) return "waits until an earlier round of the join is over";
  return `has ${counted(count)} of the ${counted(join.count)} branches it needs, and waits for ${branches(scope, group)}`;
}

function branches(scope: ScopeDraft, group: JoinGroup): string {
  const nodes = [...new Set(pendingPaths(scope, group, emptyEdges(group)).map(({ nodeId }) => nodeId))];
  return nodes.length === 1 ? `the branch at ${addressMark(nodes[0]!)}` : `the branches at ${listed(nodes.map(addressMark), "and")}`;
}

/** Says what a held path waits for, as a sentence without its subject. */
export function holdText(node: CompiledNode | null, paths: readonly ActivePath[], nodes: ReadonlyMap<string, CompiledNode> | null): string {
  if (!node || !nodes) return "waits for its turn";
  const { mutex, when } = node.node;
  const holder = mutex === undefined ? undefined : paths.find((path) => isBusy(path) && nodes.get(path.nodeId)?.node.mutex === mutex);
  const turn = holder ? `until ${addressMark(holder.nodeId)} is done (both have the mutex "${quoted(mutex!)}")` : null;
  const moment = when === undefined ? null : `until this condition is true: ${cut(when, maxConditionLength)}`;
  const reasons = [turn, moment].filter((reason) => reason !== null);
  return reasons.length === 0 ? "waits for its turn" : `waits ${reasons.join(", and ")}`;
}

function isBusy({ status }: ActivePath): boolean {
  return status === "ready" || status === "retrying" || status === "suspended";
}
