import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered } from "../broken/broken-store.ts";
import { checkClaim, checkRelease, checkRenewal } from "./checks/check-claims.ts";
import { checkCommit } from "./checks/check-commit.ts";
import type { Ledger } from "./ledger.ts";
import type { RowLocks } from "./row-locks.ts";

/** What the checks know about the surroundings of the store. */
export interface Around {
  /** The name of the process whose call is being served. */
  readonly callerName: () => string | null;
  readonly locks: RowLocks;
}

/** The longest time of a call without a network, in milliseconds. A longer call has waited for something. */
const maxServeMs = 100;

/** Observes the store below all faults. Everything that the store acknowledges is added to the ledger and checked. */
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
      // The same commit was sent again, because its acknowledgement was lost.
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
    trim(options) {
      ledger.isTrimmed = true;
      return store.trim(options);
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
      const { commitIds = [], events = [] } = ledger.entries.get(workflowId) ?? {};
      const from = rows.find(({ version }) => version > 0)?.version ?? 0;
      // the events between the first one and that with which a later run began may be gone
      const isTrimmed = ledger.isTrimmed && from > Math.max(afterVersion, 0) + 1 && events[from]?.type === "continued";
      const known = isTrimmed ? [...commitIds.slice(afterVersion + 1, 1), ...commitIds.slice(from)] : commitIds.slice(afterVersion + 1);
      const expected = known.slice(0, limit);
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
 * Checks I7: a row that another program has locked holds up only the writes of its execution and the claim of this execution by its
 * id. It holds up no other call, and no claim of any due execution.
 *
 * @param workflowId the execution that is written or claimed; null for a claim of any due execution
 */
async function served<T>(ledger: Ledger, { locks }: Around, workflowId: string | null, call: () => Promise<T>): Promise<T> {
  const fromMs = ledger.nowMs;
  const answer = await call();
  const tookMs = ledger.nowMs - fromMs;
  if (tookMs > maxServeMs && (workflowId === null || locks.endOf(workflowId) <= fromMs))
    ledger.violate("I7", `a call waited ${tookMs} ms for something that is no concern of it`, workflowId ?? undefined);
  return answer;
}

/** I17: a read returns the version that was acknowledged last. */
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
