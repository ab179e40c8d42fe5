import type { CompiledJoin, JoinEdge } from "../../definition/compiled.ts";
import { hasNode } from "../../definition/graph/node-set.ts";
import type { JoinGroup, ScopeDraft } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";
import { waveOf } from "../draft/join-group.ts";

/** A set of incoming edges of a join: true if the edge with this name belongs to it. */
export type Edges = (via: string) => boolean;

/** Returns the edges by which no path has come yet, in this round if one is open. A join that counts paths (`threads`) waits for all. */
export function emptyEdges({ join, roundEdges, waitingByEdge }: JoinGroup): Edges {
  if (join.threads) return () => true;
  return roundEdges ? (via) => !roundEdges.has(via) : (via) => !waitingByEdge.has(via);
}

/**
 * Returns the edge by which a path can still come to a join; undefined if there is none. The path must belong to the wave and be able to
 * reach the edge without passing the join or its fork. Edges of every handle count (docs/path-semantics.md, "Pending paths").
 */
function pendingEdge({ join, wave }: JoinGroup, path: DraftPath, edges: Edges): JoinEdge | undefined {
  if (path.draining || path.undoes || (path.status === "joining" && path.nodeId === join.node.node.id)) return undefined;
  if (join.fork && waveOf(join, path) !== wave) return undefined;
  return edgesFrom(join, path.node.index).find(({ via }) => edges(via));
}

/** Returns the incoming edges of a join that can be reached from a node. The result is cached for each join and node. */
function edgesFrom(join: CompiledJoin, index: number): readonly JoinEdge[] {
  let known = reachable.get(join);
  if (!known) {
    known = new Map();
    reachable.set(join, known);
  }
  let edges = known.get(index);
  if (!edges) {
    edges = join.edges.filter(({ reach }) => hasNode(reach, index));
    known.set(index, edges);
  }
  return edges;
}

const reachable = new WeakMap<CompiledJoin, Map<number, readonly JoinEdge[]>>();

/** Returns all paths that can still come by these edges. */
export function pendingPaths(scope: ScopeDraft, group: JoinGroup, edges: Edges): DraftPath[] {
  return scope.paths.filter((path) => pendingEdge(group, path, edges) !== undefined);
}

/**
 * Returns the paths for which a group has to wait: one pending path that is not at another join if there is such a path, else all pending
 * paths, which then wait at other joins. Null if no path is pending.
 */
export function blockersOf(scope: ScopeDraft, group: JoinGroup): readonly DraftPath[] | null {
  const edges = emptyEdges(group);
  const next = nextBlocker(scope, group, edges);
  if (next) return next;
  const joining: DraftPath[] = [];
  for (const path of scope.paths) {
    const edge = pendingEdge(group, path, edges);
    if (!edge) continue;
    if (path.status !== "joining") {
      group.blocker = { path, edge };
      return [path];
    }
    joining.push(path);
  }
  return joining.length > 0 ? joining : null;
}

/**
 * Looks for a pending path from the position of the last blocker on. Usually the paths before it have come already, so the branches of a
 * fork are searched once in all, and not once for each branch that comes.
 */
function nextBlocker({ paths }: ScopeDraft, group: JoinGroup, edges: Edges): readonly [DraftPath] | null {
  const { blocker } = group;
  group.blocker = null;
  if (!blocker?.path.open) return null;
  for (let i = paths.indexOf(blocker.path); i < paths.length; i++) {
    const path = paths[i]!;
    const edge = path.status === "joining" ? undefined : pendingEdge(group, path, edges);
    if (!edge) continue;
    group.blocker = { path, edge };
    return [path];
  }
  return null;
}

/**
 * Whether the path for which a group waited when it was last examined still keeps it waiting. Then no other path needs to be examined, so a
 * fork of N branches costs N examinations in all.
 */
export function isStillBlocked(group: JoinGroup): boolean {
  const { join, blocker, roundEdges, waitingByEdge, waiting } = group;
  if (!blocker?.path.open || blocker.path.status === "joining") return false;
  // a path that came too late must end at once
  if (roundEdges && waiting.length > 0) return false;
  if (!roundEdges && join.count !== "all" && (join.threads ? waiting.length : waitingByEdge.size) >= join.count) return false;
  return pendingEdge(group, blocker.path, (via) => via === blocker.edge.via && emptyEdges(group)(via)) !== undefined;
}
