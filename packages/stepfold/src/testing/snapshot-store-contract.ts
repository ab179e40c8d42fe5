import { childCases } from "./contract/child-cases.ts";
import { childSafetyCases } from "./contract/child-safety-cases.ts";
import { claimCases } from "./contract/claim-cases.ts";
import { clockCases } from "./contract/clock-cases.ts";
import { commitCases } from "./contract/commit-cases.ts";
import { crashCases } from "./contract/crash-cases.ts";
import { createCases } from "./contract/create-cases.ts";
import { definitionCases } from "./contract/definition-cases.ts";
import { deleteCases } from "./contract/delete-cases.ts";
import { eventCases } from "./contract/event-cases.ts";
import { fenceCases } from "./contract/fence-cases.ts";
import { leaseCases } from "./contract/lease-cases.ts";
import { listCases } from "./contract/list-cases.ts";
import { loadCases } from "./contract/load-cases.ts";
import { overdueCases } from "./contract/overdue-cases.ts";
import { pagingCases } from "./contract/paging-cases.ts";
import { permitCases } from "./contract/permit-cases.ts";
import { pruneCases } from "./contract/prune-cases.ts";
import { raceCases } from "./contract/race-cases.ts";
import { releaseCases } from "./contract/release-cases.ts";
import { renewCases } from "./contract/renew-cases.ts";
import { scopeCases } from "./contract/scope-cases.ts";
import { troubleCases } from "./contract/trouble-cases.ts";
import { valueCases } from "./contract/value-cases.ts";
import type { ContractCase } from "./contract-case.ts";

/**
 * Every promise of a `SnapshotStore`, as data: run them with any test runner, each on a new, empty store.
 *
 * A case resolves, or rejects with a `ContractViolation` that says which value is wrong, or with the store's own error.
 *
 * ```ts
 * import { memoryStore } from "stepfold/stores/memory";
 * import { isClaimed, snapshotStoreContract } from "stepfold/testing";
 *
 * for (const contractCase of snapshotStoreContract) {
 *   let now = 1_000_000;
 *   const store = memoryStore({ now: () => now, idempotencyRetentionMs: 1000 });
 *   const advance = async (durationMs: number) => { now += durationMs; };
 *   const bench = { store, open: async () => store, advance, retentionMs: 1000 };
 *   if (isClaimed(contractCase, bench)) await contractCase.run(bench);
 * }
 * ```
 */
export const snapshotStoreContract: readonly ContractCase[] = [
  ...createCases,
  ...loadCases,
  ...commitCases,
  ...fenceCases,
  ...clockCases,
  ...claimCases,
  ...overdueCases,
  ...crashCases,
  ...permitCases,
  ...renewCases,
  ...releaseCases,
  ...eventCases,
  ...listCases,
  ...leaseCases,
  ...pagingCases,
  ...definitionCases,
  ...deleteCases,
  ...pruneCases,
  ...raceCases,
  ...childCases,
  ...childSafetyCases,
  ...scopeCases,
  ...valueCases,
  ...troubleCases,
];
