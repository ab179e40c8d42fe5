import type { Run } from "./run.ts";

/** Returns the lists of faults of a run. All of them are empty if all is well. */
export function faultsOf({ lost, doubled, wrong, failures }: Run<unknown>): Record<string, readonly string[]> {
  return { lost, doubled, wrong, failures };
}

/** The result of `faultsOf` if all is well. */
export const noFaults: Readonly<Record<string, readonly string[]>> = { lost: [], doubled: [], wrong: [], failures: [] };
