import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Claim, Commit, Lease } from "../../ports/snapshot-store.ts";
import { repeatedCreation } from "../record/refusal.ts";
import { refuseOversize } from "../record/refuse-oversize.ts";
import { writtenCommit } from "../record/written-commit.ts";
import type { Connection } from "./connection.ts";
import { labelsOf } from "./labels.ts";
import { joined, plainText, wholeText } from "./plain-text.ts";
import { readGuard } from "./stored-guard.ts";
import { maxValueBytes } from "./write-commit.ts";

/** Makes the write of a new execution. Its values become text at once: what the caller does with them later does not matter. */
export function creation(connection: Connection, commit: Commit, lease: Lease | undefined): () => Promise<Claim | null> {
  const { ask, sql, retentionMs } = connection;
  const { metadata, definition } = commit.head;
  const { workflowId, incarnation } = commit;
  const written = writtenCommit(commit);
  refuseOversize("postgres", maxValueBytes, written);
  const held = lease && !written.ended ? lease : null;
  const children = written.children.filter(({ text }) => text !== null);
  const values = [
    ...[plainText(workflowId), plainText(incarnation), plainText(definition.id), JSON.stringify(definition), JSON.stringify(metadata)],
    ...[joined(labelsOf(metadata)), String(written.version), written.status, written.head],
    written.wakeAt === null ? null : wholeText(written.wakeAt),
    ...[held && plainText(held.owner), held && wholeText(held.leaseMs), retentionMs, plainText(commit.commitId)],
    joined(written.events.map(({ version }) => version)),
    joined(written.events.map(({ text }) => text)),
    ...(children.length > 0 ? [joined(children.map(({ key }) => JSON.stringify(key))), joined(children.map(({ text }) => text))] : []),
  ];
  const statement = children.length > 0 ? sql.createWithChildren : sql.create;

  return async () => {
    for (;;) {
      const [created] = await ask(statement, values);
      if (created)
        return held && { owner: held.owner, leaseMs: held.leaseMs, workflowId, incarnation, fence: 1, claimedAt: Number(created.now) };
      const { guard, leaseUntil, deletedAt, writer, now } = await readGuard(connection, workflowId, 0);
      // the claim is as old as its lease
      if (guard) return repeatedCreation(commit, guard, writer, lease, lease && leaseUntil !== null ? leaseUntil - lease.leaseMs : now);
      if (deletedAt !== null && deletedAt + Number(retentionMs) > now) {
        throw new StepfoldError("WORKFLOW_EXISTS", { workflowId, deletedAt });
      }
      // what stood in the way was forgotten in between
    }
  };
}
