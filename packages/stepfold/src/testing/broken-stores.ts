import { brokenCheckpoints } from "./broken/broken-checkpoints.ts";
import { brokenChildren } from "./broken/broken-children.ts";
import { brokenClocks } from "./broken/broken-clocks.ts";
import { brokenCommits } from "./broken/broken-commits.ts";
import { brokenCounts } from "./broken/broken-counts.ts";
import { brokenMetadata } from "./broken/broken-metadata.ts";
import { brokenReads } from "./broken/broken-reads.ts";
import { brokenScopes } from "./broken/broken-scopes.ts";
import type { BrokenStore } from "./broken/broken-store.ts";
import { brokenTrouble } from "./broken/broken-trouble.ts";
import { brokenWaits } from "./broken/broken-waits.ts";
import { brokenClaims } from "./broken/claims/broken-claims.ts";
import { brokenCrashes } from "./broken/claims/broken-crashes.ts";
import { brokenOverdue } from "./broken/claims/broken-overdue.ts";
import { brokenPartitions } from "./broken/claims/broken-partitions.ts";
import { brokenPermits } from "./broken/claims/broken-permits.ts";
import { brokenRates } from "./broken/claims/broken-rates.ts";
import { brokenLibrary } from "./broken/library/broken-library.ts";
import { brokenCode } from "./broken/runs/broken-code.ts";
import { brokenKeys } from "./broken/runs/broken-keys.ts";
import { brokenRuns } from "./broken/runs/broken-runs.ts";

/**
 * Stores with plausible mistakes, each a wrapper around a correct one. They show that the contract finds such mistakes.
 *
 * ```ts
 * import { memoryStore } from "stepfold/stores/memory";
 * import { brokenStores } from "stepfold/testing";
 *
 * for (const { name, breaks, caughtBy } of brokenStores) console.log(name, breaks(memoryStore()).name, caughtBy);
 * ```
 */
export const brokenStores: readonly BrokenStore[] = [
  ...brokenCommits,
  ...brokenCheckpoints,
  ...brokenClaims,
  ...brokenClocks,
  ...brokenCrashes,
  ...brokenOverdue,
  ...brokenPermits,
  ...brokenPartitions,
  ...brokenRates,
  ...brokenReads,
  ...brokenRuns,
  ...brokenCode,
  ...brokenKeys,
  ...brokenMetadata,
  ...brokenWaits,
  ...brokenCounts,
  ...brokenLibrary,
  ...brokenChildren,
  ...brokenScopes,
  ...brokenTrouble,
];
