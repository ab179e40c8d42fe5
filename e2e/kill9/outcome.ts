import type { Run } from "./run.ts";

/** Nothing is to be found in any of them. */
export function faultsOf({ lost, doubled, wrong, failures }: Run<unknown>): Record<string, readonly string[]> {
  return { lost, doubled, wrong, failures };
}

/** What `faultsOf` gives if all is well. */
export const noFaults: Readonly<Record<string, readonly string[]>> = { lost: [], doubled: [], wrong: [], failures: [] };
