import type { CompiledJoin } from "../../definition/compiled.ts";
import { comparePathIds } from "../../snapshot/parts/path-id.ts";
import type { JoinGroup, ScopeDraft } from "./draft.ts";
import type { DraftPath } from "./draft-path.ts";

/** Returns the wave of a path at a join: the visit of the join's fork from which it came, or "" (docs/path-semantics.md, "Waves"). */
export function waveOf(join: CompiledJoin, path: DraftPath): string {
  return (join.fork && path.waves?.[join.fork.node.id]) ?? "";
}

/** Puts an arrived path into the group of its join. Returns the number of paths of this wave that wait there and came by the same edge. */
export function wait(scope: ScopeDraft, join: CompiledJoin, path: DraftPath): number {
  const { waiting, waitingByEdge } = groupAt(scope, join, waveOf(join, path));
  let place = waiting.length;
  while (place > 0 && byAge(path, waiting[place - 1]!) < 0) place--;
  waiting.splice(place, 0, path);
  const count = (waitingByEdge.get(path.via!) ?? 0) + 1;
  waitingByEdge.set(path.via!, count);
  return count;
}

/** Removes a path from the group of its join. */
export function unwait(scope: ScopeDraft, join: CompiledJoin, path: DraftPath): void {
  const group = groupAt(scope, join, waveOf(join, path));
  const { waiting, waitingByEdge } = group;
  waiting.splice(waiting.indexOf(path), 1);
  const left = waitingByEdge.get(path.via!)! - 1;
  if (left > 0) waitingByEdge.set(path.via!, left);
  else waitingByEdge.delete(path.via!);
  discardIfEmpty(scope, group);
}

/** Returns the group of a join and a wave. Creates the group if it does not exist. */
export function groupAt(scope: ScopeDraft, join: CompiledJoin, wave: string): JoinGroup {
  const key = `${join.node.node.id}|${wave}`;
  scope.groups ??= new Map();
  let group = scope.groups.get(key);
  if (!group) {
    group = { key, join, wave, waiting: [], waitingByEdge: new Map(), roundEdges: null, blocker: null };
    scope.groups.set(key, group);
  }
  return group;
}

/** Deletes a group in which no path waits and which has no open round. */
export function discardIfEmpty(scope: ScopeDraft, group: JoinGroup): void {
  if (group.waiting.length === 0 && group.roundEdges === null) scope.groups!.delete(group.key);
}

/** Compares paths by the order of their arrival; of paths that arrived at the same version the senior one comes first. */
export function byAge(a: DraftPath, b: DraftPath): number {
  return a.since - b.since || comparePathIds(a.id, b.id);
}
