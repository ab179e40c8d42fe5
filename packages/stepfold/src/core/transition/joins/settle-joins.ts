import type { Template } from "../../definition/template.ts";
import { errorInfo } from "../../errors/error-info.ts";
import { StepfoldError } from "../../errors/stepfold-error.ts";
import type { EpochMs } from "../../values/json.ts";
import { factsOf, type JoinGroup, type ScopeDraft, variablesAt } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";
import { byAge, discardIfEmpty } from "../draft/join-group.ts";
import { endPath } from "../paths/end-path.ts";
import { failJoin, fire } from "./fire-join.ts";
import { type Blocked, firstOfCircle } from "./join-circle.ts";
import { blockersOf, isStillBlocked, pendingPaths } from "./pending.ts";

/** Lets every join fire that can, until none can (docs/path-semantics.md, "Firing"). */
export function settleJoins(scope: ScopeDraft, at: EpochMs): boolean {
  let moved = false;
  while (mayMove(scope) && settleOne(scope, at)) moved = true;
  return moved;
}

/** Whether any group may have something to do: it is not still blocked by the same path as before. */
function mayMove(scope: ScopeDraft): boolean {
  if (!scope.groups || scope.ended) return false;
  for (const group of scope.groups.values()) if (!isStillBlocked(group)) return true;
  return false;
}

/** Lets the first group that can do something do it, in the order of `nodes`. */
function settleOne(scope: ScopeDraft, at: EpochMs): boolean {
  const groups = inOrder(scope);
  const blocked = new Map<JoinGroup, Blocked>();
  for (const group of groups) {
    const blockers = isStillBlocked(group) ? { by: [group.blocker!.path] } : ask(scope, group, false, at);
    if (!blockers) return true;
    blocked.set(group, blockers);
  }
  const first = firstOfCircle(groups, blocked);
  return first !== null && ask(scope, first, true, at) === null;
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
 * Lets a group do what it can. Null if it did something; else what it waits for.
 *
 * @param force it is first in a circle: nothing else will come
 */
function ask(scope: ScopeDraft, group: JoinGroup, force: boolean, at: EpochMs): Blocked | null {
  const { join, waiting, got, filled } = group;
  if (got) return askRound(scope, group, got, force);
  if (join.count !== "all" && !join.threads && join.late === "block") {
    const behind = roundOf(scope, group);
    if (behind) return { by: [], behind };
  }
  const enough = join.count !== "all" && (join.threads ? waiting.length : filled.size) >= join.count;
  const blockers = force || enough ? null : blockersOf(scope, group);
  if (blockers) return { by: blockers };
  if (join.count === "all") fire(scope, group, headsOf(group));
  else if (!enough) fallShort(scope, group, at);
  else if (join.threads) fire(scope, group, waiting.slice(0, join.count));
  else fireFirst(scope, group, headsOf(group));
  return null;
}

/** Of each edge the path that came first. */
function headsOf({ waiting }: JoinGroup): DraftPath[] {
  const heads = new Map<string, DraftPath>();
  for (const path of waiting) if (!heads.has(path.via!)) heads.set(path.via!, path);
  return [...heads.values()];
}

/** Ends the late paths of a round, and closes it when no path can come any more. */
function askRound(scope: ScopeDraft, group: JoinGroup, got: Set<string>, force: boolean): Blocked | null {
  const late = headsOf(group).filter(({ via }) => !got.has(via!));
  for (const path of late) {
    got.add(path.via!);
    endPath(scope, path, "late");
  }
  if (late.length > 0) return null;
  const blockers = force ? null : blockersOf(scope, group);
  if (blockers) return { by: blockers };
  group.got = null;
  discardIfEmpty(scope, group);
  return null;
}

/** Merges the paths of a join to which too few came and no other can come, and fails its node. */
function fallShort(scope: ScopeDraft, group: JoinGroup, at: EpochMs): void {
  const { join, waiting, filled } = group;
  const nodeId = join.node.node.id;
  const came = join.threads ? waiting.length : filled.size;
  const error = new StepfoldError("JOIN_SHORT", { nodeId, wanted: join.count as number, came });
  failJoin(scope, fire(scope, group, [...waiting]), errorInfo(error, nodeId), at);
}

/** Fires a join with its first n arrivals. `late` says what happens to the others. */
function fireFirst(scope: ScopeDraft, group: JoinGroup, heads: readonly DraftPath[]): void {
  const { join } = group;
  const taken = heads.slice(0, join.count as number);
  const got = new Set(taken.map(({ via }) => via!));
  if (join.late === "cancel") {
    const losers = [...pendingPaths(scope, group, (via) => !got.has(via)), ...heads.slice(taken.length)];
    for (const path of losers) endPath(scope, path, "cancelled");
  } else group.got = got;
  fire(scope, group, taken);
}

/** A round of the same join in another wave. */
function roundOf({ groups }: ScopeDraft, { join, key }: JoinGroup): JoinGroup | undefined {
  for (const group of groups!.values()) if (group.join === join && group.got && group.key !== key) return group;
  return undefined;
}

/**
 * Makes held paths ready whose turn or moment has come, and holds ready ones again whose moment has passed
 * (docs/path-semantics.md, "Cancels, mutexes and milestones").
 *
 * @param heldAgain those of this transition: once is enough, or a condition that asks for held paths would never settle
 */
export function settleHolds(scope: ScopeDraft, heldAgain: Set<DraftPath>, at: EpochMs): boolean {
  if (!scope.workflow.holds) return false;
  let moved = false;
  // a condition asks the same for every path at its node, until one of them moves
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

/** Null if its condition failed, and the path with it. */
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

/** Null if the condition failed, and the path with it. @param together the conditions of one transition share a budget */
function conditionOf(scope: ScopeDraft, path: DraftPath, when: Template, together: object, at: EpochMs): boolean | null {
  const { root, context, input } = scope;
  try {
    const since = root.version + 1;
    const parts = { context, since, vars: variablesAt(scope, since), input, metadata: root.metadata, at, execution: factsOf(root) };
    const value = when.evaluate(root.workflow.language.executionScope({ ...parts, paths: pathsRead(scope, when) }), together);
    return Boolean(value);
  } catch (error) {
    failJoin(scope, path, errorInfo(error, path.nodeId), at);
    return null;
  }
}

/** The open paths at the nodes that an expression asks about. */
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
