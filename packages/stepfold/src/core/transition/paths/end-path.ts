import type { EndedPath } from "../../snapshot/event.ts";
import type { Ending } from "../../snapshot/snapshot.ts";
import { isChild, type ScopeDraft } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";
import { unwait } from "../draft/join-group.ts";
import { withdraw } from "../draft/outbox.ts";
import { dropChildren } from "./drop-children.ts";

/**
 * Ends a path and its children. If one of the children is being undone, the path drains: it stays until that is done.
 * The reason is stored with the event, unless the path simply came to its end.
 *
 * @param begun where everything around is being undone, as `dropChildren` takes it
 */
export function endPath(
  scope: ScopeDraft,
  path: DraftPath,
  reason: EndedPath["reason"] | null,
  begun: Ending["begun"] | null = null,
): void {
  scope.root.endings++;
  if (path.waits) withdraw(scope.root, path.waits);
  if (path.status === "joining") unwait(scope, path.node.join!, path);
  if (path.children && dropChildren(scope, path.children, begun)) {
    path.draining = true;
    path.turn++;
  } else {
    scope.paths.splice(scope.paths.indexOf(path), 1);
    path.open = false;
    path.children = undefined;
  }
  if (reason === null) return;
  const ended = { pathId: path.id, nodeId: path.nodeId, reason };
  scope.root.endedPaths.push(isChild(scope) ? { scope: scope.key, ...ended } : ended);
}
