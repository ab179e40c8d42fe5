import type { ActivePath, Snapshot } from "./snapshot.ts";

/** The members of a snapshot that hold paths and children. */
export type Scopes = Pick<Snapshot, "activePaths" | "childStates">;

/**
 * Returns the address of a node as people write it: the nodes of the maps and sub-workflows around it, then its own id, such as `approve`,
 * `sub/approve` or `map[3]/approve`.
 */
export function addressOf(snapshot: Scopes, scope: string, nodeId: string): string {
  let address = nodeId;
  for (let key = scope; key !== ""; key = parentKey(key)) {
    const item = itemOf(key);
    address = `${ownerOf(snapshot, key)?.nodeId ?? "?"}${item === null ? "" : `[${item}]`}/${address}`;
  }
  return address;
}

/** Returns the path that waits for a child; undefined if no path does. */
export function ownerOf(snapshot: Scopes, key: string): ActivePath | undefined {
  const group = groupOf(key);
  return pathsOf(snapshot, parentKey(key)).find(({ children }) => children?.key === group);
}

/** The fields of a path, in a snapshot or a draft, that say whether it rests. */
interface Resting {
  readonly status: ActivePath["status"];
  readonly waits?: unknown;
  readonly children?: unknown;
}

/**
 * Whether a path rests: it holds the code of its scope, and the code waits for steps that it has asked for. Each of these has a path of its own;
 * the path of the code is their frame, and no place at which anything is awaited.
 */
export function isResting({ status, waits, children }: Resting): boolean {
  return status === "suspended" && !waits && !children;
}

/** Returns the node at which an execution or a child stands: that of its first path that does not rest; undefined without open paths. */
export function presentNode(paths: readonly (Resting & Pick<ActivePath, "nodeId">)[]): string | undefined {
  return (paths.find((path) => !isResting(path)) ?? paths[0])?.nodeId;
}

/** The open paths of a scope. */
export function pathsOf(snapshot: Scopes, scope: string): readonly ActivePath[] {
  return scope === "" ? snapshot.activePaths : (snapshot.childStates?.[scope]?.activePaths ?? []);
}

/** Returns the open path with a name such as `0#1/3>0`: the key of its scope, `>`, and its id. */
export function pathNamed(snapshot: Scopes, name: string): ActivePath | undefined {
  const id = localKey(name);
  return pathsOf(snapshot, parentKey(name)).find((path) => path.id === id);
}

/** Yields every scope of a snapshot that has open paths: first the execution itself (always), then its children. */
export function* openScopes(snapshot: Scopes): Generator<readonly [scope: string, paths: readonly ActivePath[]]> {
  yield ["", snapshot.activePaths];
  for (const [key, { activePaths }] of Object.entries(snapshot.childStates ?? {})) if (activePaths.length > 0) yield [key, activePaths];
}

/** Counts the waits of all kinds in all scopes. */
export function countWaits(snapshot: Scopes): number {
  let count = 0;
  for (const [, paths] of openScopes(snapshot)) for (const { waits } of paths) count += waits?.length ?? 0;
  return count;
}

/** Separates the key of a scope from the name of what lies in it. */
const nested = ">";

/** Returns the key of the scope that a child, a path or a wait belongs to: `0#1/3` for `0#1/3>0@2`; empty for the execution itself. */
export function parentKey(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf(nested)));
}

/** True if a child, or a child around it, is ready and waits for a place in its map. */
export function heldUp({ childStates }: Pick<Scopes, "childStates">, scope: string): boolean {
  for (let key = scope; key !== ""; key = parentKey(key)) if (childStates?.[key]?.queued !== undefined) return true;
  return false;
}

/** Returns the last part of a key, which is unique in its scope: `0@2` for `0#1/3>0@2`. */
export function localKey(key: string): string {
  return key.slice(key.lastIndexOf(nested) + 1);
}

/** Returns the whole key of a child, or the whole name of a path or wait, in a scope. */
export function scopedKey(scope: string, local: string): string {
  return scope === "" ? local : `${scope}${nested}${local}`;
}

/** Returns the key of one child of a path: for a sub-workflow (`item` is null) the key of the group, for an item also `/` and its index. */
export function childKey(scope: string, group: string, item: number | null): string {
  return scopedKey(scope, item === null ? group : `${group}/${item}`);
}

/** Returns the index of the item that a child's key names; null if the key names a sub-workflow. */
export function itemOf(key: string): number | null {
  const local = localKey(key);
  const slash = local.indexOf("/");
  return slash < 0 ? null : Number(local.slice(slash + 1));
}

/** Returns the key of the group (`ChildrenState.key`) that a child belongs to, without the key of the scope. */
export function groupOf(key: string): string {
  const local = localKey(key);
  const slash = local.indexOf("/");
  return slash < 0 ? local : local.slice(0, slash);
}

/** True if the key names a child of the group, or something inside such a child. */
export function belongsTo(key: string, group: string): boolean {
  if (!key.startsWith(group)) return false;
  const next = key[group.length];
  return next === undefined || next === "/" || next === nested;
}

/** Returns how deeply a scope is nested: 0 for the execution itself, 1 for its children. */
export function depthOf(key: string): number {
  return key === "" ? 0 : key.split(nested).length;
}
