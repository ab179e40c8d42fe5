import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered } from "../broken/broken-store.ts";
import { checkClaim, checkRelease, checkRenewal } from "./checks/check-claims.ts";
import { checkCommit } from "./checks/check-commit.ts";
import type { Ledger } from "./ledger.ts";

/** The store below all faults. Everything it acknowledges goes into the ledger and is checked. */
export function observedStore(store: SnapshotStore, ledger: Ledger): SnapshotStore {
  return altered(store, { ...observedWrites(store, ledger), ...observedReads(store, ledger), ...observedClaims(store, ledger) });
}

function observedWrites(store: SnapshotStore, ledger: Ledger): Partial<SnapshotStore> {
  return {
    async create(commit, options) {
      const claim = await store.create(commit, options);
      const known = ledger.entries.get(commit.workflowId);
      // the same commit again, because its acknowledgement was lost
      if (known?.commitIds[0] === commit.commitId) return claim;
      if (known) ledger.violate("I2", "a second execution was begun under the same id", commit.workflowId);
      const entry = ledger.begin(commit);
      checkCommit(ledger, entry, { ...commit, expectedVersion: -1 });
      if (claim) checkClaim(ledger, claim, null);
      return claim;
    },
    async commit(commit) {
      await store.commit(commit);
      const entry = ledger.entries.get(commit.workflowId);
      if (!entry) return ledger.violate("I2", "a commit of an execution that is not there was acknowledged", commit.workflowId);
      if (entry.commitIds[commit.expectedVersion + 1] === commit.commitId) return;
      checkCommit(ledger, entry, commit);
      ledger.append(entry, commit);
    },
    async delete(workflowId) {
      await store.delete(workflowId);
      ledger.entries.delete(workflowId);
    },
    async prune(options) {
      const report = await store.prune(options);
      if (report.executions > 0 && !options.dryRun) await forgetPruned(store, ledger);
      return report;
    },
  };
}

function observedReads(store: SnapshotStore, ledger: Ledger): Partial<SnapshotStore> {
  return {
    async load(workflowId) {
      const snapshot = await store.load(workflowId);
      checkRead(ledger, workflowId, snapshot?.version);
      return snapshot;
    },
    async events(workflowId, afterVersion, limit) {
      const rows = await store.events(workflowId, afterVersion, limit);
      const { commitIds = [] } = ledger.entries.get(workflowId) ?? {};
      const expected = commitIds.slice(afterVersion + 1, afterVersion + 1 + limit);
      if (rows.length !== expected.length || rows.some(({ commitId }, i) => commitId !== expected[i]))
        ledger.violate("I17", `events after version ${afterVersion} are not those that were committed`, workflowId);
      return rows;
    },
  };
}

function observedClaims(store: SnapshotStore, ledger: Ledger): Partial<SnapshotStore> {
  return {
    async claim(options) {
      const claimed = await store.claim(options);
      for (const claim of claimed) {
        checkRead(ledger, claim.workflowId, claim.version);
        checkClaim(ledger, claim, options);
      }
      return claimed;
    },
    async renew(claim) {
      const renewed = await store.renew(claim);
      checkRenewal(ledger, claim);
      return renewed;
    },
    async release(claim, version) {
      await store.release(claim, version);
      checkRelease(ledger, claim, version);
    },
  };
}

/** I17: what is read is what was acknowledged last. */
function checkRead(ledger: Ledger, workflowId: string, version = -1): void {
  const { version: committed = -1 } = ledger.entries.get(workflowId) ?? {};
  if (version !== committed) ledger.violate("I17", `version ${version} was read after version ${committed} was acknowledged`, workflowId);
}

async function forgetPruned(store: SnapshotStore, ledger: Ledger): Promise<void> {
  for (const workflowId of [...ledger.entries.keys()]) {
    const isThere = await store.load(workflowId).catch((error: unknown) => StepfoldError.is(error, "STORE_REJECTED"));
    if (!isThere) ledger.entries.delete(workflowId);
  }
}
