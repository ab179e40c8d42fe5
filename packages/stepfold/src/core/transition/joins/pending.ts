import type { CompiledJoin, JoinEdge } from "../../definition/compiled.ts";
import { hasNode } from "../../definition/graph/node-set.ts";
import type { JoinGroup, ScopeDraft } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";
import { waveOf } from "../draft/join-group.ts";

/** Which edges of a join are meant, by name. */
export type Edges = (via: string) => boolean;

/** The edges that a group still waits for: those by which nothing has come. A thread merge counts arrivals, not edges. */
export function emptyEdges({ join, got, filled }: JoinGroup): Edges {
  if (join.threads) return () => true;
  return got ? (via) => !got.has(via) : (via) => !filled.has(via);
}

/**
 * The edge by which a path may still come to a join. It must be of the wave, and able to reach the edge without passing
 * the join or its fork; edges of every handle count (docs/path-semantics.md, "Pending paths").
 */
function pendingEdge({ join, wave }: JoinGroup, path: DraftPath, edges: Edges): JoinEdge | undefined {
  if (path.draining || path.undoes || (path.status === "joining" && path.nodeId === join.node.node.id)) return undefined;
  if (join.fork && waveOf(join, path) !== wave) return undefined;
  return edgesFrom(join, path.node.index).find(({ via }) => edges(via));
}

/** The edges of a join that can be reached from a node; looked up once for each. */
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

/** All paths that may still come by these edges. */
export function pendingPaths(scope: ScopeDraft, group: JoinGroup, edges: Edges): DraftPath[] {
  return scope.paths.filter((path) => pendingEdge(group, path, edges) !== undefined);
}

/**
 * What keeps a group waiting: null if nothing does; a path that is not joining itself if there is one; else all paths
 * that do, which wait at other joins.
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
 * A path behind the last blocker that keeps the group waiting. Most of the time there is one, and what lies before it has
 * come already: so the branches of a fork are gone through once in all, and not once for each that comes.
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
 * Whether what kept a group waiting when it was last asked still does: then nothing else needs to be looked at, and a
 * fork of N branches costs N looks in all.
 */
export function isStillBlocked(group: JoinGroup): boolean {
  const { join, blocker, got, filled, waiting } = group;
  if (!blocker?.path.open || blocker.path.status === "joining") return false;
  // a path that came too late has to be ended at once
  if (got && waiting.length > 0) return false;
  if (!got && join.count !== "all" && (join.threads ? waiting.length : filled.size) >= join.count) return false;
  return pendingEdge(group, blocker.path, (via) => via === blocker.edge.via && emptyEdges(group)(via)) !== undefined;
}
