import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Claim, Commit, Lease } from "../../../ports/snapshot-store.ts";
import { liveGuard } from "../claims/guard.ts";
import type { ExecutionTable, RowWrite, RowWritten } from "../execution-table.ts";
import { isExpired, removalOf } from "../tombstones.ts";
import { commitOf, insertOf } from "./row-writes.ts";
import { commitVerdict, repeatedCreation } from "./verdict.ts";
import type { WrittenCommit } from "./written-commit.ts";

/** What a write of an execution asks its table for. */
export interface WriteAccess extends Pick<ExecutionTable, "name" | "read" | "events"> {
  write(write: RowWrite): Promise<RowWritten | null>;
}

/** How often a write is tried whose condition did not hold although nothing speaks against it any more. */
const maxTries = 100;

/** Makes a new execution, or answers for the one that is there. One with a permit or a rate is not claimed with its creation. */
export async function createExecution(
  access: WriteAccess,
  commit: Commit,
  written: WrittenCommit,
  wanted: Lease | undefined,
  retentionMs: number,
): Promise<Claim | null> {
  const { workflowId, incarnation, version, sizeBytes } = written;
  const lease = commit.head.permit || commit.head.rate ? undefined : wanted;
  const held = lease && !written.ended ? lease : null;
  const insert = insertOf(commit, written, held);
  for (let tries = 0; tries < maxTries; tries++) {
    const made = await access.write(insert);
    if (made) {
      if (!held) return null;
      const { owner, leaseMs } = held;
      return { workflowId, incarnation, version, sizeBytes, owner, leaseMs, fence: 1, claimedAt: made.now, expired: 0, crashes: 0 };
    }
    const { now, found } = await access.read([workflowId]);
    const guard = found.get(workflowId);
    if (!guard) continue;
    if (guard.deletedAt === null) {
      const writer = await writerOf(access, workflowId, 0);
      // the claim is as old as its lease, at whose end it is due
      const claimedAt = lease && guard.owner !== null && guard.dueAt !== null ? guard.dueAt - lease.leaseMs : now;
      return repeatedCreation(commit, guard, writer, lease, claimedAt);
    }
    if (!isExpired(guard, now, retentionMs)) throw new StepfoldError("WORKFLOW_EXISTS", { workflowId, deletedAt: guard.deletedAt });
    await access.write(removalOf(guard));
  }
  throw changing(access, workflowId);
}

/** Makes a commit, unless it was made before. Nearly every one is made at once: that way has no async function. */
export function commitExecution(access: WriteAccess, written: WrittenCommit): Promise<void> {
  const write = commitOf(written);
  return access.write(write).then((made) => (made ? undefined : judgeCommit(access, written, write)));
}

/** Says why a commit was not made, or makes it after all. */
async function judgeCommit(access: WriteAccess, written: WrittenCommit, write: RowWrite): Promise<void> {
  const { workflowId, expectedVersion } = written;
  for (let tries = 0; tries < maxTries; tries++) {
    const [{ found }, writer] = await Promise.all([access.read([workflowId]), writerOf(access, workflowId, expectedVersion + 1)]);
    const verdict = commitVerdict(written, liveGuard(found.get(workflowId)), writer);
    if (verdict === "applied") return;
    if (verdict !== "allowed") throw verdict;
    if (await access.write(write)) return;
  }
  throw changing(access, workflowId);
}

/** The commit that wrote a version; null if it is not there. */
async function writerOf({ events }: WriteAccess, workflowId: string, version: number): Promise<string | null> {
  const [event] = await events(workflowId, version - 1, 1);
  return event?.version === version ? event.commitId : null;
}

function changing({ name }: WriteAccess, workflowId: string): StepfoldError {
  const reason = `execution "${workflowId}" was changed by others all the time`;
  return new StepfoldError("STORE_UNAVAILABLE", { store: name, reason });
}
