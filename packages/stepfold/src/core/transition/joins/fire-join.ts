import type { ErrorInfo } from "../../errors/error-info.ts";
import { comparePathIds } from "../../snapshot/parts/path-id.ts";
import type { ResultRef } from "../../snapshot/snapshot.ts";
import type { EpochMs, Json } from "../../values/json.ts";
import { addConsequence } from "../draft/add-result.ts";
import type { JoinGroup, ScopeDraft } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";
import { noteFailure } from "../draft/failures.ts";
import { unwait } from "../draft/join-group.ts";
import { endPath } from "../paths/end-path.ts";
import { failPath } from "../paths/fail-path.ts";
import { enter } from "../paths/leave.ts";

/** Merges paths that wait at a join: the senior path goes on and performs the node with the results of all of them; the others end. */
export function fire(scope: ScopeDraft, group: JoinGroup, taken: readonly DraftPath[]): DraftPath {
  const { join } = group;
  const order = new Map(join.edges.map(({ via }, i) => [via, i]));
  const bringing = [...taken].sort((a, b) => order.get(a.via!)! - order.get(b.via!)! || comparePathIds(a.id, b.id));
  const survivor = seniorOf(taken);
  for (const path of taken) if (path !== survivor) endPath(scope, path, null);
  unwait(scope, join, survivor);
  survivor.inputs = Object.freeze(bringing.map(broughtBy));
  survivor.turn++;
  survivor.visit = survivor.turn;
  survivor.since = scope.root.version + 1;
  survivor.via = undefined;
  enter(survivor);
  return survivor;
}

function seniorOf(paths: readonly DraftPath[]): DraftPath {
  return paths.reduce((senior, path) => (comparePathIds(path.id, senior.id) < 0 ? path : senior));
}

/** Merges all paths that wait at a join, and fails its node. */
export function failJoin(scope: ScopeDraft, group: JoinGroup, error: ErrorInfo, at: EpochMs): void {
  const paths = [...group.waiting];
  const handle = exitOf(scope, seniorOf(paths));
  if (handle === undefined) for (const path of paths) noteFailure(scope, path);
  failUnperformed(scope, fire(scope, group, paths), error, handle, at);
}

/** Fails the node of a path because its condition `when` threw an error. */
export function failCondition(scope: ScopeDraft, path: DraftPath, error: ErrorInfo, at: EpochMs): void {
  const handle = exitOf(scope, path);
  if (handle === undefined) noteFailure(scope, path);
  failUnperformed(scope, path, error, handle, at);
}

function failUnperformed(scope: ScopeDraft, path: DraftPath, error: ErrorInfo, handle: "error" | undefined, at: EpochMs): void {
  const version = scope.root.version + 1;
  addConsequence(scope, path.node, {
    output: handle === undefined ? null : (error as unknown as Json),
    timestamp: at,
    attempt: 1,
    error: error.message,
    pathId: path.id,
    version,
  });
  path.status = "ready";
  failPath(scope, path, error, handle, version);
}

/** Lets a path take the `error` edge once per transition, because an edge that leads back to the node would loop for ever. */
function exitOf({ root, key }: ScopeDraft, { id, nodeId, node }: DraftPath): "error" | undefined {
  if (!node.edges.has("error")) return undefined;
  const name = `${key}>${id}@${nodeId}`;
  root.errorExits ??= new Set();
  if (root.errorExits.has(name)) return undefined;
  root.errorExits.add(name);
  return "error";
}

/** Returns the result that a path came with: the result of the node before, from the version at which the path left it. */
function broughtBy({ stepPath, since }: DraftPath): ResultRef {
  return Object.freeze({ nodeId: stepPath.at(-1)!, version: since });
}
