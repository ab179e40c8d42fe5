import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered } from "../broken/broken-store.ts";
import { checkClaim, checkRelease, checkRenewal } from "./checks/check-claims.ts";
import { checkCommit } from "./checks/check-commit.ts";
import type { Ledger } from "./ledger.ts";
import type { RowLocks } from "./row-locks.ts";

/** What is known around the store. */
export interface Around {
  /** The process whose call is being served. */
  readonly callerName: () => string | null;
  readonly locks: RowLocks;
}

/** Stores are asked without a network here: more than that is waiting. */
const maxServeMs = 100;

/** The store below all faults. Everything it acknowledges goes into the ledger and is checked. */
export function observedStore(store: SnapshotStore, ledger: Ledger, around: Around): SnapshotStore {
  const observed = { ...observedWrites(store, ledger, around), ...observedReads(store, ledger), ...observedClaims(store, ledger, around) };
  return altered(store, observed);
}

function observedWrites(store: SnapshotStore, ledger: Ledger, around: Around): Partial<SnapshotStore> {
  return {
    async create(commit, options) {
      const caller = around.callerName();
      const claim = await served(ledger, around, commit.workflowId, () => store.create(commit, options));
      const known = ledger.entries.get(commit.workflowId);
      // the same commit again, because its acknowledgement was lost
      if (known?.commitIds[0] === commit.commitId) return claim;
      if (known) ledger.violate("I2", "a second execution was begun under the same id", commit.workflowId);
      const entry = ledger.begin(commit);
      checkCommit(ledger, entry, { ...commit, expectedVersion: -1 }, caller);
      if (claim) checkClaim(ledger, claim, null, caller);
      ledger.remember();
      return claim;
    },
    async commit(commit) {
      const caller = around.callerName();
      await served(ledger, around, commit.workflowId, () => store.commit(commit));
      const entry = ledger.entries.get(commit.workflowId);
      if (!entry) return ledger.violate("I2", "a commit of an execution that is not there was acknowledged", commit.workflowId);
      if (entry.commitIds[commit.expectedVersion + 1] === commit.commitId) return;
      checkCommit(ledger, entry, commit, caller);
      ledger.append(entry, commit);
      ledger.remember();
    },
    async delete(workflowId) {
      await store.delete(workflowId);
      ledger.entries.delete(workflowId);
      ledger.remember();
    },
    async prune(options) {
      const report = await store.prune(options);
      if (report.executions > 0 && !options.dryRun) await forgetPruned(store, ledger);
      ledger.remember();
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

function observedClaims(store: SnapshotStore, ledger: Ledger, around: Around): Partial<SnapshotStore> {
  return {
    async claim(options) {
      const caller = around.callerName();
      const claimed = await served(ledger, around, options.workflowId ?? null, () => store.claim(options));
      for (const claim of claimed) {
        checkRead(ledger, claim.workflowId, claim.version);
        checkClaim(ledger, claim, options, caller);
      }
      ledger.remember();
      return claimed;
    },
    async renew(claim) {
      const caller = around.callerName();
      const renewed = await served(ledger, around, claim.workflowId, () => store.renew(claim));
      checkRenewal(ledger, claim, caller);
      ledger.remember();
      return renewed;
    },
    async release(claim, version) {
      await served(ledger, around, claim.workflowId, () => store.release(claim, version));
      checkRelease(ledger, claim, version);
      ledger.remember();
    },
  };
}

/**
 * I7: a row that somebody else has locked holds up the writes of its own execution, and the claim of that one alone; nothing else, and no claim of whatever
 * is due.
 *
 * @param workflowId what is written or claimed; null: whatever is due
 */
async function served<T>(ledger: Ledger, { locks }: Around, workflowId: string | null, call: () => Promise<T>): Promise<T> {
  const fromMs = ledger.nowMs;
  const answer = await call();
  const tookMs = ledger.nowMs - fromMs;
  if (tookMs > maxServeMs && (workflowId === null || locks.endOf(workflowId) <= fromMs))
    ledger.violate("I7", `a call waited ${tookMs} ms for something that is no concern of it`, workflowId ?? undefined);
  return answer;
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
