import { groupOf, itemOf, parentKey, pathsOf, scopedKey } from "../snapshot/address.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/**
 * Returns a function that names places of one snapshot as `addressOf` does: `approve`, `map[3]/approve`. It searches the path around a
 * group of children only once, at the first call for one of them.
 */
export function addresses(snapshot: Pick<Snapshot, "activePaths" | "childStates">): (scope: string, nodeId: string) => string {
  const owners = new Map<string, string>();
  const ownerOf = (parent: string, group: string): string => {
    const key = scopedKey(parent, group);
    let owner = owners.get(key);
    if (owner === undefined) {
      owner = pathsOf(snapshot, parent).find(({ children }) => children?.key === group)?.nodeId ?? "?";
      owners.set(key, owner);
    }
    return owner;
  };
  return (scope, nodeId) => {
    let address = nodeId;
    for (let key = scope; key !== ""; key = parentKey(key)) {
      const item = itemOf(key);
      address = `${ownerOf(parentKey(key), groupOf(key))}${item === null ? "" : `[${item}]`}/${address}`;
    }
    return address;
  };
}
