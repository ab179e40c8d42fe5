import type { CompiledNode } from "../../definition/compiled.ts";
import type { Template } from "../../definition/template.ts";
import { errorInfo } from "../../errors/error-info.ts";
import type { EpochMs } from "../../values/json.ts";
import type { ScopeDraft } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";
import { byAge } from "../draft/join-group.ts";
import { failJoin } from "./fire-join.ts";

/**
 * Makes held paths ready whose turn or moment has come, and holds ready ones again whose moment has passed
 * (docs/path-semantics.md, "Cancels, mutexes and milestones").
 *
 * @param heldAgain those of this transition: once is enough, or a condition that asks for held paths would never settle
 */
export function settleHolds(scope: ScopeDraft, heldAgain: Set<DraftPath>, at: EpochMs): boolean {
  if (!scope.workflow.holds) return false;
  let moved = false;
  for (const path of [...scope.paths].sort(byAge)) {
    if (path.undoes) continue;
    const { node } = path;
    if ((!node.when && node.node.mutex === undefined) || path.draining || !scope.paths.includes(path)) continue;
    if (path.status === "held") {
      const may = mayEnter(scope, path, node, at);
      if (may === false) continue;
      if (may === true) path.status = "ready";
      moved = true;
    } else if (path.status === "ready" && node.when && path.turn === path.visit && !heldAgain.has(path)) {
      if (holds(scope, path, node.when, at) !== false) continue;
      heldAgain.add(path);
      path.status = "held";
      moved = true;
    }
  }
  return moved;
}

/** Null if its condition failed, and the path with it. */
function mayEnter(scope: ScopeDraft, path: DraftPath, { node, when }: CompiledNode, at: EpochMs): boolean | null {
  if (when) {
    const met = holds(scope, path, when, at);
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

function holds(scope: ScopeDraft, path: DraftPath, when: Template, at: EpochMs): boolean | null {
  const { root, context, input } = scope;
  try {
    const parts = { context, since: root.version + 1, input, metadata: root.metadata, at };
    const value = when.evaluate(root.workflow.language.executionScope({ ...parts, paths: pathsRead(scope, when) }));
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
