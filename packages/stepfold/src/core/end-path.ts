import { belongsTo, childKey, within } from "./child-key.ts";
import { isChild, type ScopeDraft } from "./draft.ts";
import type { DraftChildren, DraftPath } from "./draft-path.ts";
import type { EndedPath } from "./event.ts";
import { unwait } from "./join-group.ts";
import { withdraw } from "./outbox.ts";

/** Ends a path, and its children with it. The reason goes along with the event, unless the path just came to its end. */
export function endPath(scope: ScopeDraft, path: DraftPath, reason: EndedPath["reason"] | null): void {
  scope.paths.splice(scope.paths.indexOf(path), 1);
  scope.root.endings++;
  path.open = false;
  if (path.waits) withdraw(scope.root, path.waits);
  if (path.status === "joining") unwait(scope, path.node.join!, path);
  if (path.children) dropChildren(scope, path.children);
  path.children = undefined;
  if (reason === null) return;
  const ended = { pathId: path.id, nodeId: path.nodeId, reason };
  scope.root.endedPaths.push(isChild(scope) ? { scope: scope.key, ...ended } : ended);
}

/** Lets go of the children of a path, those that are open too; what may have to be undone is kept. */
export function dropChildren(scope: ScopeDraft, { key, map }: DraftChildren): void {
  const { root } = scope;
  const group = within(scope.key, key);
  root.mapItems.delete(group);
  const drop = (child: string): void => dropChild(scope, child);
  if (!map) drop(childKey(scope.key, key, null));
  // what ended long ago lies at known keys; of what is open somebody else may be inside
  for (let item = 0; map && item < map.next; item++) drop(childKey(scope.key, key, item));
}

function dropChild({ root }: ScopeDraft, key: string): void {
  const child = root.children.get(key);
  if (!child || child.kept) return;
  forget(root, key);
  const isOpen = "root" in child ? child.paths.length > 0 : child.activePaths.length > 0;
  if (!isOpen) return;
  for (const inner of [...root.children.keys()]) if (belongsTo(inner, key)) forget(root, inner);
  for (const items of [...root.mapItems.keys()]) if (belongsTo(items, key)) root.mapItems.delete(items);
}

/** Lets go of every child inside a scope that has ended: whatever was to be undone is. */
export function forgetChildren({ root, key }: ScopeDraft): void {
  if (root.children.size === 0) return;
  for (const child of [...root.children.keys()]) if (key === "" || (child !== key && belongsTo(child, key))) forget(root, child);
}

/** Lets go of one child. */
export function forget(root: ScopeDraft["root"], key: string): void {
  const child = root.children.get(key)!;
  root.children.delete(key);
  root.changed.delete(key);
  root.timers.set(key, null);
  root.dropped.push(key);
  root.endings++;
  for (const { waits } of "root" in child ? child.paths : child.activePaths) if (waits) withdraw(root, waits);
  if ("root" in child) root.awake.delete(child);
}
