import type { JoinGroup } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";

/** What a group waits for: these paths, or the end of another round of its join. */
export interface Blocked {
  readonly by: readonly DraftPath[];
  readonly behind?: JoinGroup;
}

/**
 * Finds the group that goes first of those that only wait for each other: one that wants all branches, else a round that
 * closes, else one that wants a number; among equals the first in order (docs/path-semantics.md, "Circles of joins").
 * Null if there is none.
 */
export function firstOfCircle(groups: readonly JoinGroup[], blocked: ReadonlyMap<JoinGroup, Blocked>): JoinGroup | null {
  const live = new Set(groups.filter((group) => blocked.get(group)!.by.some(({ status }) => status !== "joining")));
  if (live.size === groups.length) return null;
  const at = new Map<DraftPath, JoinGroup>();
  for (const group of groups) for (const path of group.waiting) at.set(path, group);
  for (let grown = true; grown; ) {
    grown = false;
    for (const group of groups) {
      if (live.has(group)) continue;
      const { by, behind } = blocked.get(group)!;
      if (!by.some((path) => live.has(at.get(path)!)) && !(behind && live.has(behind))) continue;
      live.add(group);
      grown = true;
    }
  }
  const dead = groups.filter((group) => !live.has(group));
  const waiting = dead.filter(({ waiting: paths }) => paths.length > 0);
  if (waiting.length === 0) return null;
  return waiting.find(({ join }) => join.count === "all") ?? dead.find(({ got }) => got) ?? waiting[0]!;
}
