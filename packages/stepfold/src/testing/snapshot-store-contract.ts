import { childCases } from "./contract/children/child-cases.ts";
import { childSafetyCases } from "./contract/children/child-safety-cases.ts";
import { scopeCases } from "./contract/children/scope-cases.ts";
import { claimCases } from "./contract/claims/claim-cases.ts";
import { clockCases } from "./contract/claims/clock-cases.ts";
import { crashCases } from "./contract/claims/crash-cases.ts";
import { exemptCases } from "./contract/claims/exempt-cases.ts";
import { fenceCases } from "./contract/claims/fence-cases.ts";
import { leaseCases } from "./contract/claims/lease-cases.ts";
import { overdueCases } from "./contract/claims/overdue-cases.ts";
import { partitionCases } from "./contract/claims/partition-cases.ts";
import { permitCases } from "./contract/claims/permit-cases.ts";
import { raceCases } from "./contract/claims/race-cases.ts";
import { rateCases } from "./contract/claims/rate-cases.ts";
import { releaseCases } from "./contract/claims/release-cases.ts";
import { renewCases } from "./contract/claims/renew-cases.ts";
import { troubleCases } from "./contract/claims/trouble-cases.ts";
import { codeCases } from "./contract/code/code-cases.ts";
import { checkpointCases } from "./contract/records/checkpoint-cases.ts";
import { commitCases } from "./contract/records/commit-cases.ts";
import { countCases } from "./contract/records/count-cases.ts";
import { createCases } from "./contract/records/create-cases.ts";
import { definitionCases } from "./contract/records/definition-cases.ts";
import { deleteCases } from "./contract/records/delete-cases.ts";
import { eventCases } from "./contract/records/event-cases.ts";
import { keyCases } from "./contract/records/key-cases.ts";
import { libraryCases } from "./contract/records/library-cases.ts";
import { listCases } from "./contract/records/list-cases.ts";
import { loadCases } from "./contract/records/load-cases.ts";
import { metadataCases } from "./contract/records/metadata-cases.ts";
import { pagingCases } from "./contract/records/paging-cases.ts";
import { pruneCases } from "./contract/records/prune-cases.ts";
import { rangeCases } from "./contract/records/range-cases.ts";
import { reopenCases } from "./contract/records/reopen-cases.ts";
import { trimCases } from "./contract/records/trim-cases.ts";
import { valueCases } from "./contract/records/value-cases.ts";
import { waitCases } from "./contract/records/wait-cases.ts";
import { workerCases } from "./contract/records/worker-cases.ts";
import type { ContractCase } from "./contract-case.ts";

/**
 * Every promise of a `SnapshotStore`, as data. Run the cases with any test runner, each on a new, empty store.
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
  ...checkpointCases,
  ...fenceCases,
  ...clockCases,
  ...claimCases,
  ...overdueCases,
  ...crashCases,
  ...permitCases,
  ...exemptCases,
  ...partitionCases,
  ...rateCases,
  ...renewCases,
  ...releaseCases,
  ...eventCases,
  ...listCases,
  ...metadataCases,
  ...rangeCases,
  ...waitCases,
  ...workerCases,
  ...countCases,
  ...leaseCases,
  ...pagingCases,
  ...definitionCases,
  ...libraryCases,
  ...keyCases,
  ...deleteCases,
  ...pruneCases,
  ...reopenCases,
  ...trimCases,
  ...raceCases,
  ...childCases,
  ...childSafetyCases,
  ...scopeCases,
  ...valueCases,
  ...codeCases,
  ...troubleCases,
];
