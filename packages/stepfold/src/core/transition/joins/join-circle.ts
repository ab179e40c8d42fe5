import type { JoinGroup } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";

/** What a group waits for. */
export interface Blocked {
  /** The paths that can still come to the group. */
  readonly by: readonly DraftPath[];
  /** A group of the same join, in another wave, whose open round must close first (`late: "block"`). */
  readonly openRound?: JoinGroup;
}

/**
 * Finds the groups that only wait for each other, and returns the one that goes first: a group of a join that wants all branches, else a
 * round that closes, else a group that wants a number of branches; among equals the first in order (docs/path-semantics.md, "Circles of
 * joins"). Null if there is no such group.
 */
export function firstOfCircle(groups: readonly JoinGroup[], blocked: ReadonlyMap<JoinGroup, Blocked>): JoinGroup | null {
  // groups that need no help: a path that is not at a join can still come to them, directly or after other joins have fired
  const live = new Set(groups.filter((group) => blocked.get(group)!.by.some(({ status }) => status !== "joining")));
  if (live.size === groups.length) return null;
  const at = new Map<DraftPath, JoinGroup>();
  for (const group of groups) for (const path of group.waiting) at.set(path, group);
  for (let grown = true; grown; ) {
    grown = false;
    for (const group of groups) {
      if (live.has(group)) continue;
      const { by, openRound } = blocked.get(group)!;
      if (!by.some((path) => live.has(at.get(path)!)) && !(openRound && live.has(openRound))) continue;
      live.add(group);
      grown = true;
    }
  }
  const dead = groups.filter((group) => !live.has(group));
  const waiting = dead.filter(({ waiting: paths }) => paths.length > 0);
  if (waiting.length === 0) return null;
  return waiting.find(({ join }) => join.count === "all") ?? dead.find(({ roundEdges }) => roundEdges) ?? waiting[0]!;
}
