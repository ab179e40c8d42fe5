import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Claim, Commit, Lease } from "../../../ports/snapshot-store.ts";
import { liveGuard } from "../claims/guard.ts";
import type { RowWrite, RowWritten } from "../execution-rows.ts";
import type { ExecutionTable } from "../execution-table.ts";
import { isExpired, removalOf } from "../tombstones.ts";
import { commitOf, insertOf } from "./row-writes.ts";
import { commitVerdict, repeatedCreation } from "./verdict.ts";
import type { WrittenCommit } from "./written-commit.ts";

/** The methods of a table that a write of an execution uses. */
export interface WriteAccess extends Pick<ExecutionTable, "name" | "read" | "events"> {
  write(write: RowWrite): Promise<RowWritten | null>;
}

/** How many times a write is tried if its condition does not hold, but the stored row allows the write when it is read afterwards. */
const maxTries = 100;

/**
 * Creates an execution, or answers a repetition of its creation. An execution with a permit or a rate is not claimed with its creation,
 * because only `claim` counts these.
 */
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
      // `dueAt` is the end of the lease, so the claim was made, or last renewed, `leaseMs` earlier
      const claimedAt = lease && guard.owner !== null && guard.dueAt !== null ? guard.dueAt - lease.leaseMs : now;
      return repeatedCreation(commit, guard, writer, lease, claimedAt);
    }
    if (!commit.reusesId && !isExpired(guard, now, retentionMs))
      throw new StepfoldError("WORKFLOW_EXISTS", { workflowId, deletedAt: guard.deletedAt });
    await access.write(removalOf(guard));
  }
  throw changing(access, workflowId);
}

/** Makes a commit, unless it was made before. No async function, for speed: nearly every commit is made by the first write. */
export function commitExecution(access: WriteAccess, written: WrittenCommit): Promise<void> {
  const write = commitOf(written);
  return access.write(write).then((made) => (made ? undefined : judgeCommit(access, written, write)));
}

/** Throws the reason why a commit was not made, or makes it if nothing is against it any more. */
async function judgeCommit(access: WriteAccess, written: WrittenCommit, write: RowWrite): Promise<void> {
  const { workflowId, version } = written;
  for (let tries = 0; tries < maxTries; tries++) {
    const [{ found }, writer] = await Promise.all([access.read([workflowId]), writerOf(access, workflowId, version)]);
    const verdict = commitVerdict(written, liveGuard(found.get(workflowId)), writer);
    if (verdict === "applied") return;
    if (verdict !== "allowed") throw verdict;
    if (await access.write(write)) return;
  }
  throw changing(access, workflowId);
}

/** Returns the id of the commit that wrote a version; null if the version does not exist. */
async function writerOf({ events }: WriteAccess, workflowId: string, version: number): Promise<string | null> {
  const [event] = await events(workflowId, version - 1, 1);
  return event?.version === version ? event.commitId : null;
}

function changing({ name }: WriteAccess, workflowId: string): StepfoldError {
  const reason = `execution "${workflowId}" was changed by other writers again and again`;
  return new StepfoldError("STORE_UNAVAILABLE", { store: name, reason });
}
