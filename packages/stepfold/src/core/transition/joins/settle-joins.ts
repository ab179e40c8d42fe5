import type { Template } from "../../definition/template.ts";
import { errorInfo } from "../../errors/error-info.ts";
import { StepfoldError } from "../../errors/stepfold-error.ts";
import type { EpochMs } from "../../values/json.ts";
import { factsOf, type JoinGroup, type ScopeDraft, variablesAt } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";
import { byAge, discardIfEmpty } from "../draft/join-group.ts";
import { endPath } from "../paths/end-path.ts";
import { failCondition, failJoin, fire } from "./fire-join.ts";
import { type Blocked, firstOfCircle } from "./join-circle.ts";
import { blockersOf, isStillBlocked, pendingPaths } from "./pending.ts";

/** Fires joins until none can fire any more (docs/path-semantics.md, "Firing"). Returns true if something moved. */
export function settleJoins(scope: ScopeDraft, at: EpochMs): boolean {
  let moved = false;
  while (mayMove(scope) && settleOne(scope, at)) moved = true;
  return moved;
}

/** Whether any group must be examined, because it is new or is not blocked any more by the same path as before. */
function mayMove(scope: ScopeDraft): boolean {
  if (!scope.groups || scope.ended) return false;
  for (const group of scope.groups.values()) if (!isStillBlocked(group)) return true;
  return false;
}

/** Examines the groups in the order of `nodes` until one of them acts. If none does, looks for a circle of joins. True if one has acted. */
function settleOne(scope: ScopeDraft, at: EpochMs): boolean {
  const groups = inOrder(scope);
  const blocked = new Map<JoinGroup, Blocked>();
  for (const group of groups) {
    const blockers = isStillBlocked(group) ? { by: [group.blocker!.path] } : examine(scope, group, false, at);
    if (!blockers) return true;
    blocked.set(group, blockers);
  }
  const first = firstOfCircle(groups, blocked);
  return first !== null && examine(scope, first, true, at) === null;
}

function inOrder({ groups }: ScopeDraft): JoinGroup[] {
  const all = [...groups!.values()];
  if (all.length === 1) return all;
  return all.sort((a, b) => {
    const order = a.join.node.index - b.join.node.index;
    return order || (a.waiting[0] && b.waiting[0] ? byAge(a.waiting[0], b.waiting[0]) : 0);
  });
}

/**
 * Lets a group act: fire, fail, end late paths or close its round. Returns null if it acted; otherwise what it waits for.
 *
 * @param force true if the group goes first in a circle of joins, so that it does not wait for pending paths
 */
function examine(scope: ScopeDraft, group: JoinGroup, force: boolean, at: EpochMs): Blocked | null {
  const { join, waiting, roundEdges, waitingByEdge } = group;
  if (roundEdges) return examineRound(scope, group, roundEdges, force);
  if (join.count !== "all" && !join.threads && join.late === "block") {
    const openRound = roundOf(scope, group);
    if (openRound) return { by: [], openRound };
  }
  const enough = join.count !== "all" && (join.threads ? waiting.length : waitingByEdge.size) >= join.count;
  const blockers = force || enough ? null : blockersOf(scope, group);
  if (blockers) return { by: blockers };
  if (join.count === "all") fire(scope, group, headsOf(group));
  else if (!enough) fallShort(scope, group, at);
  else if (join.threads) fire(scope, group, waiting.slice(0, join.count));
  else fireFirst(scope, group, headsOf(group));
  return null;
}

/** Returns the path that came first by each edge. */
function headsOf({ waiting }: JoinGroup): DraftPath[] {
  const heads = new Map<string, DraftPath>();
  for (const path of waiting) if (!heads.has(path.via!)) heads.set(path.via!, path);
  return [...heads.values()];
}

/** Ends the late paths of a round, and closes the round when no path can come any more. */
function examineRound(scope: ScopeDraft, group: JoinGroup, roundEdges: Set<string>, force: boolean): Blocked | null {
  const late = headsOf(group).filter(({ via }) => !roundEdges.has(via!));
  for (const path of late) {
    roundEdges.add(path.via!);
    endPath(scope, path, "late");
  }
  if (late.length > 0) return null;
  const blockers = force ? null : blockersOf(scope, group);
  if (blockers) return { by: blockers };
  group.roundEdges = null;
  discardIfEmpty(scope, group);
  return null;
}

/** Merges the paths at a join to which too few paths came and that waits for no others, and fails the node with `JOIN_SHORT`. */
function fallShort(scope: ScopeDraft, group: JoinGroup, at: EpochMs): void {
  const { join, waiting, waitingByEdge } = group;
  const nodeId = join.node.node.id;
  const came = join.threads ? waiting.length : waitingByEdge.size;
  const error = new StepfoldError("JOIN_SHORT", { nodeId, wanted: join.count as number, came });
  failJoin(scope, group, errorInfo(error, nodeId), at);
}

/** Fires a join with the first n paths of `heads`. The option `late` of the join says what happens to the other branches. */
function fireFirst(scope: ScopeDraft, group: JoinGroup, heads: readonly DraftPath[]): void {
  const { join } = group;
  const taken = heads.slice(0, join.count as number);
  const roundEdges = new Set(taken.map(({ via }) => via!));
  if (join.late === "cancel") {
    const losers = [...pendingPaths(scope, group, (via) => !roundEdges.has(via)), ...heads.slice(taken.length)];
    for (const path of losers) endPath(scope, path, "cancelled");
  } else group.roundEdges = roundEdges;
  fire(scope, group, taken);
}

/** Returns a group of the same join in another wave that has an open round; undefined if there is none. */
function roundOf({ groups }: ScopeDraft, { join, key }: JoinGroup): JoinGroup | undefined {
  for (const group of groups!.values()) if (group.join === join && group.roundEdges && group.key !== key) return group;
  return undefined;
}

/**
 * Makes held paths ready if their mutex is free and their `when` is true, and holds ready paths again if their `when` is not true any more,
 * unless they were resumed or retried (docs/path-semantics.md, "Cancels, mutexes and milestones"). Returns true if anything changed.
 *
 * @param heldAgain the paths of this scope that were held again in this transition. Each path is held again only once, because otherwise a
 * condition that reads the status of paths might never settle.
 */
export function settleHolds(scope: ScopeDraft, heldAgain: Set<DraftPath>, at: EpochMs): boolean {
  if (!scope.workflow.holds) return false;
  let moved = false;
  // the result of a condition is the same for all paths at its node until a path moves, so it is cached until then
  let met = new Map<Template, boolean>();
  const holds = (path: DraftPath, when: Template): boolean | null => {
    const known = met.get(when) ?? conditionOf(scope, path, when, heldAgain, at);
    if (known === null) met = new Map();
    else met.set(when, known);
    return known;
  };
  for (const path of [...scope.paths].sort(byAge)) {
    if (path.undoes) continue;
    const { node } = path;
    if ((!node.when && node.node.mutex === undefined) || path.draining || !scope.paths.includes(path)) continue;
    if (path.status === "held") {
      const may = mayEnter(scope, path, holds);
      if (may === false) continue;
      if (may === true) path.status = "ready";
      [moved, met] = [true, new Map()];
    } else if (path.status === "ready" && node.when && path.turn === path.visit && !heldAgain.has(path)) {
      if (holds(path, node.when) !== false) continue;
      heldAgain.add(path);
      path.status = "held";
      [moved, met] = [true, new Map()];
    }
  }
  return moved;
}

/** Whether a held path may become ready. Null if its condition threw an error: the node has failed then. */
function mayEnter(scope: ScopeDraft, path: DraftPath, holds: (path: DraftPath, when: Template) => boolean | null): boolean | null {
  const { node, when } = path.node;
  if (when) {
    const met = holds(path, when);
    if (met !== true) return met;
  }
  if (node.mutex === undefined) return true;
  return !scope.paths.some(
    (other) =>
      other !== path &&
      (other.status === "ready" || other.status === "retrying" || other.status === "suspended") &&
      other.node.node.mutex === node.mutex,
  );
}

/**
 * Evaluates a condition. Returns null if it throws an error; the node of the path fails then.
 *
 * @param together the same object for all conditions of a scope in one transition, so that they share one budget
 */
function conditionOf(scope: ScopeDraft, path: DraftPath, when: Template, together: object, at: EpochMs): boolean | null {
  const { root, context, input } = scope;
  try {
    const since = root.version + 1;
    const parts = { context, since, vars: variablesAt(scope, since), input, metadata: root.metadata, at, execution: factsOf(root) };
    const value = when.evaluate(root.workflow.language.executionScope({ ...parts, paths: pathsRead(scope, when) }), together);
    return Boolean(value);
  } catch (error) {
    failCondition(scope, path, errorInfo(error, path.nodeId), at);
    return null;
  }
}

/** Returns the open paths at the nodes that an expression reads in `paths`, by node id. */
function pathsRead({ paths, workflow }: ScopeDraft, { reads }: Template): Record<string, { id: string; status: string }[]> {
  const found: Record<string, { id: string; status: string }[]> = {};
  for (const [root, nodeId] of reads) {
    if (root !== "paths") continue;
    const asked = nodeId === undefined || nodeId === "*" ? [...workflow.nodes.keys()] : [nodeId];
    for (const id of asked) found[id] = [];
  }
  for (const { id, nodeId, status, draining } of paths) if (!draining && Object.hasOwn(found, nodeId)) found[nodeId]!.push({ id, status });
  return found;
}
