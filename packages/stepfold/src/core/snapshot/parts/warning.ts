/** Something about an execution that is probably not as intended. The execution goes on. The warning is reported, but not stored. */
export interface Warning {
  /**
   * `JOIN_OVERRUN`: two paths of one wave arrived at a join by the same edge, so their order decides which paths are merged.
   * `COMPENSATION_FAILED`: what a node did could not be undone. `PATHS_MANY`: 1,000 paths of one scope are open at once. `SIZE_LARGE`: the
   * execution holds 2 MiB of JSON.
   */
  readonly code: "COMPENSATION_FAILED" | "JOIN_OVERRUN" | "PATHS_MANY" | "SIZE_LARGE";
  readonly nodeId?: string;
  readonly message: string;
}

/** An object that collects warnings, such as a draft. */
interface Warned {
  readonly warnings: Warning[];
}

/** The number of open paths of one scope from which on an execution gets the warning `PATHS_MANY`. */
const manyPaths = 1_000;

/**
 * Warns that two paths of one wave arrived at a join by the same edge: the later one waits until the join fires again
 * (docs/path-semantics.md, "Firing").
 */
export function warnOfOverrun(draft: Warned, nodeId: string, via: string): void {
  const message = `Two branches arrived at the join "${nodeId}" by "${via}": the later one waits until the join fires again. Let a loop cancel the other branches ("cancels"), or put the join inside the loop`;
  draft.warnings.push({ code: "JOIN_OVERRUN", nodeId, message });
}

/** Warns that a compensation failed for good. */
export function warnOfUndo(draft: Warned, nodeId: string, reason: string): void {
  draft.warnings.push({ code: "COMPENSATION_FAILED", nodeId, message: `The compensation of node "${nodeId}" failed: ${reason}` });
}

/** Warns when the number of open paths of a scope reaches 1,000. @param born by how many paths the number has just risen */
export function warnOfPaths(draft: Warned, nodeId: string, open: number, born: number): void {
  if (open < manyPaths || open - born >= manyPaths) return;
  const message = `${manyPaths} paths are open at once since node "${nodeId}": a loop that forks without a join makes more and more paths`;
  draft.warnings.push({ code: "PATHS_MANY", nodeId, message });
}
