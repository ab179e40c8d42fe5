import type { ActivePath, Snapshot } from "./snapshot.ts";

/** What is read of a snapshot. */
export type Scopes = Pick<Snapshot, "activePaths" | "childStates">;

/**
 * A place in an execution as people write it: the node, with the maps and sub-workflows around it: `approve`,
 * `sub/approve`, `map[3]/approve`.
 */
export function addressOf(snapshot: Scopes, scope: string, nodeId: string): string {
  let address = nodeId;
  for (let key = scope; key !== ""; key = parentKey(key)) {
    const item = itemOf(key);
    address = `${ownerOf(snapshot, key)?.nodeId ?? "?"}${item === null ? "" : `[${item}]`}/${address}`;
  }
  return address;
}

/** The path that waits for a child. */
export function ownerOf(snapshot: Scopes, key: string): ActivePath | undefined {
  const group = groupOf(key);
  return pathsOf(snapshot, parentKey(key)).find(({ children }) => children?.key === group);
}

/** The open paths of a scope. */
export function pathsOf(snapshot: Scopes, scope: string): readonly ActivePath[] {
  return scope === "" ? snapshot.activePaths : (snapshot.childStates?.[scope]?.activePaths ?? []);
}

/** The open path of a name such as `0#1/3>0`. */
export function pathNamed(snapshot: Scopes, name: string): ActivePath | undefined {
  const id = localKey(name);
  return pathsOf(snapshot, parentKey(name)).find((path) => path.id === id);
}

/** Every scope of a snapshot that has open paths, the execution itself first. */
export function* openScopes(snapshot: Scopes): Generator<readonly [scope: string, paths: readonly ActivePath[]]> {
  yield ["", snapshot.activePaths];
  for (const [key, { activePaths }] of Object.entries(snapshot.childStates ?? {})) if (activePaths.length > 0) yield [key, activePaths];
}

/** Waits of all kinds, in all scopes. */
export function countWaits(snapshot: Scopes): number {
  let count = 0;
  for (const [, paths] of openScopes(snapshot)) for (const { waits } of paths) count += waits?.length ?? 0;
  return count;
}

const nested = ">";

/** Key of the scope that a child, a path or a wait belongs to: `0#1/3` of `0#1/3>0@2`; empty for the execution itself. */
export function parentKey(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf(nested)));
}

/** The part of a key that tells it from others of its scope: `0@2` of `0#1/3>0@2`. */
export function localKey(key: string): string {
  return key.slice(key.lastIndexOf(nested) + 1);
}

/** Key of a child, or name of a path or wait, in a scope. */
export function scopedKey(scope: string, local: string): string {
  return scope === "" ? local : `${scope}${nested}${local}`;
}

/** Key of one child of a path: of a sub-workflow the path's own key, of an item that and its index. */
export function childKey(scope: string, group: string, item: number | null): string {
  return scopedKey(scope, item === null ? group : `${group}/${item}`);
}

/** Index of the item that a child's key names; null if it names a sub-workflow. */
export function itemOf(key: string): number | null {
  const local = localKey(key);
  const slash = local.indexOf("/");
  return slash < 0 ? null : Number(local.slice(slash + 1));
}

/** Key of the path that a child belongs to, in its scope. */
export function groupOf(key: string): string {
  const local = localKey(key);
  const slash = local.indexOf("/");
  return slash < 0 ? local : local.slice(0, slash);
}

/** True if a child is one of a group's, or inside one. */
export function belongsTo(key: string, group: string): boolean {
  if (!key.startsWith(group)) return false;
  const next = key[group.length];
  return next === undefined || next === "/" || next === nested;
}

/** How many scopes lie around what a key names. */
export function depthOf(key: string): number {
  return key === "" ? 0 : key.split(nested).length;
}
