import type { CompiledJoin } from "../../definition/compiled.ts";
import { comparePathIds } from "../../snapshot/path-id.ts";
import type { JoinGroup, ScopeDraft } from "./draft.ts";
import type { DraftPath } from "./draft-path.ts";

/** The wave of a path at a join: the visit of the fork that it belongs to (docs/path-semantics.md, "Waves"). */
export function waveOf(join: CompiledJoin, path: DraftPath): string {
  return (join.fork && path.waves?.[join.fork.node.id]) ?? "";
}

/** Puts a path that has arrived into the group of its join. Gives how many paths of its wave wait there that came by the same edge. */
export function wait(scope: ScopeDraft, join: CompiledJoin, path: DraftPath): number {
  const { waiting, filled } = groupAt(scope, join, waveOf(join, path));
  let place = waiting.length;
  while (place > 0 && byAge(path, waiting[place - 1]!) < 0) place--;
  waiting.splice(place, 0, path);
  const count = (filled.get(path.via!) ?? 0) + 1;
  filled.set(path.via!, count);
  return count;
}

/** Takes a path out of the group of its join. */
export function unwait(scope: ScopeDraft, join: CompiledJoin, path: DraftPath): void {
  const group = groupAt(scope, join, waveOf(join, path));
  const { waiting, filled } = group;
  waiting.splice(waiting.indexOf(path), 1);
  const left = filled.get(path.via!)! - 1;
  if (left > 0) filled.set(path.via!, left);
  else filled.delete(path.via!);
  discardIfEmpty(scope, group);
}

/** The group of a join and wave, made if there is none. */
export function groupAt(scope: ScopeDraft, join: CompiledJoin, wave: string): JoinGroup {
  const key = `${join.node.node.id}|${wave}`;
  scope.groups ??= new Map();
  let group = scope.groups.get(key);
  if (!group) {
    group = { key, join, wave, waiting: [], filled: new Map(), got: null, blocker: null };
    scope.groups.set(key, group);
  }
  return group;
}

/** Deletes a group in which no path waits and which has no open round. */
export function discardIfEmpty(scope: ScopeDraft, group: JoinGroup): void {
  if (group.waiting.length === 0 && group.got === null) scope.groups!.delete(group.key);
}

/** Order of arrival, then seniority. */
export function byAge(a: DraftPath, b: DraftPath): number {
  return a.since - b.since || comparePathIds(a.id, b.id);
}
