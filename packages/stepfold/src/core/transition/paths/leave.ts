import type { CompiledEdge, CompiledNode } from "../../definition/compiled.ts";
import { hasNode } from "../../definition/graph/node-set.ts";
import { forkId } from "../../snapshot/parts/path-id.ts";
import { warnOfOverrun, warnOfPaths } from "../../snapshot/parts/warning.ts";
import type { ScopeDraft } from "../draft/draft.ts";
import { clearWaits, type DraftPath, statusAtEntry, visit } from "../draft/draft-path.ts";
import { wait } from "../draft/join-group.ts";
import { endPath } from "./end-path.ts";

// every commit writes the step path, so a longer one would make every step more expensive
const stepPathLength = 8;

/**
 * Lets a path leave its node by the edges of these handles (undefined: the default handle). The path takes the first edge, and a new path
 * takes each other edge (docs/path-semantics.md, "Forks"). Returns false if there is no edge, so that the path has ended.
 */
export function leave(scope: ScopeDraft, path: DraftPath, handles: readonly string[] | undefined, version: number): boolean {
  const { edges, next, wave } = path.node;
  const taken = handles ? handles.flatMap((handle) => edges.get(handle) ?? []) : next;
  const first = taken[0];
  if (!first) {
    endPath(scope, path, null);
    return false;
  }
  clearWaits(scope.root, path);
  // the paths that leave a fork belong to the wave of this visit
  if (wave) path.waves = { ...path.waves, [path.nodeId]: `${path.id}#${path.visit}` };
  path.stepPath.push(path.nodeId);
  if (path.stepPath.length > stepPathLength) path.stepPath.shift();
  if (taken.length === 1) {
    arrive(scope, path, first, version);
    return true;
  }
  const arriving = taken.map((_, i) => (i === 0 ? path : branchOff(scope, path)));
  warnOfPaths(scope.root, path.nodeId, scope.paths.length, taken.length - 1);
  for (let i = 0; i < arriving.length; i++) arrive(scope, arriving[i]!, taken[i]!, version);
  return true;
}

/** Ends all other paths at the nodes that the `cancels` of a completed node names. */
export function cancelOthers(scope: ScopeDraft, path: DraftPath): void {
  const { cancels } = path.node.node;
  if (!cancels) return;
  for (const other of [...scope.paths]) if (other !== path && cancels.includes(other.nodeId)) endPath(scope, other, "cancelled");
}

function branchOff(scope: ScopeDraft, path: DraftPath): DraftPath {
  const born = { ...path, id: newId(scope, path), turn: 0, forks: 0, stepPath: [...path.stepPath] };
  scope.paths.push(born);
  return born;
}

/** Returns the id of the next path that forks off a path. */
export function newId(scope: ScopeDraft, path: DraftPath): string {
  return forkId(path.id, ++path.forks, (candidate) => scope.paths.some(({ id }) => id === candidate));
}

function arrive(scope: ScopeDraft, path: DraftPath, { via, target }: CompiledEdge, version: number): void {
  visit(path, target, version);
  path.via = via;
  path.inputs = undefined;
  path.children = undefined;
  if (path.waves) path.waves = wavesAt(scope, path.waves, target);
  if (target.join) {
    path.status = "joining";
    const count = wait(scope, target.join, path);
    if (count === 2 && !target.join.threads) warnOfOverrun(scope.root, path.nodeId, via);
  } else enter(path);
}

/** Makes a path ready to perform its node, or holds it if the node has a `mutex` or a `when`. */
export function enter(path: DraftPath): void {
  path.status = statusAtEntry(path);
}

/** Returns the waves that still matter at a node; undefined if none matters (docs/path-semantics.md, "Waves"). */
function wavesAt(
  { workflow }: ScopeDraft,
  waves: Readonly<Record<string, string>>,
  { index }: CompiledNode,
): Readonly<Record<string, string>> | undefined {
  const forks = Object.keys(waves);
  const matter = forks.filter((fork) => hasNode(workflow.nodes.get(fork)!.wave!, index));
  if (matter.length === forks.length) return Object.freeze(waves);
  return matter.length === 0 ? undefined : Object.freeze(Object.fromEntries(matter.map((fork) => [fork, waves[fork]!])));
}
