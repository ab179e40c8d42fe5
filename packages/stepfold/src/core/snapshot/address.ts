import { groupOf, itemOf, localKey, parentKey } from "./child-key.ts";
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
