import { addressOf, openScopes, ownerOf } from "./address.ts";
import { itemOf } from "./child-key.ts";
import { readTarget, type Target } from "./find-wait.ts";
import type { ActivePath, Snapshot } from "./snapshot.ts";

/** A path, and the child that it is in. */
export interface FoundPath {
  /** Empty for the execution itself. */
  readonly scope: string;
  readonly path: ActivePath;
}

/** All open paths that a target names, in every scope. @throws StepfoldError `OPTION_INVALID` */
export function findPaths(snapshot: Snapshot, target: Target): FoundPath[] {
  const { waitId, node, item, address } = readTarget(target);
  const found: FoundPath[] = [];
  for (const [scope, paths] of openScopes(snapshot)) {
    if (item !== undefined && (scope === "" || itemOf(scope) !== item)) continue;
    for (const path of paths) {
      const isNamed =
        waitId !== undefined
          ? path.waits?.some(({ id }) => id === waitId) === true
          : address !== undefined
            ? addressOf(snapshot, scope, path.nodeId) === address
            : path.nodeId === node || (item !== undefined && ownerOf(snapshot, scope)?.nodeId === node);
      if (isNamed) found.push({ scope, path });
    }
  }
  return found;
}
