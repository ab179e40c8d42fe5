import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import { checkedStore } from "./checked-store.ts";
import { Claims } from "./claims.ts";
import type { ExecutionTable } from "./execution-table.ts";
import { keyedLock } from "./keyed-lock.ts";
import { labelsOf } from "./labels.ts";
import { executionPage } from "./list.ts";
import { restoredSnapshot } from "./restored-snapshot.ts";
import { rowWriter, writtenOf } from "./row-writer.ts";
import { defaultRetentionMs, deleteExecution, pruneExecutions } from "./tombstones.ts";
import { refuseOversize } from "./value-limit.ts";
import { commitExecution, createExecution, type WriteAccess } from "./writes.ts";
import { type WrittenCommit, writtenCommit } from "./written-commit.ts";

/** What of a store does not depend on its database. */
export interface StoreOptions {
  /** How long the id of a deleted execution stays taken. Default 30 days. */
  readonly retentionMs?: number | undefined;
  /** Of one part of a commit, where the store does not say so in its features. */
  readonly maxValueBytes?: number;
  /** What an error of the database means: `STORE_UNAVAILABLE` if the same call may succeed later, else `STORE_REJECTED`. */
  readonly errorOf: (cause: unknown) => StepfoldError;
}

/** The store that a database's table makes: all rules are those of the kit. */
export function storeOver(table: ExecutionTable, { retentionMs = defaultRetentionMs, errorOf, ...limits }: StoreOptions): SnapshotStore {
  const { name, features, records } = table;
  const { maxValueBytes = limits.maxValueBytes } = features;
  const writer = rowWriter(table);
  const claims = new Claims(table, writer);
  // a pool sends what is issued one after the other over several connections at once
  const order = keyedLock();
  const accessOver = (own: Pick<ExecutionTable, "read" | "events">, write: WriteAccess["write"]): WriteAccess => ({
    name,
    read: (ids) => own.read(ids),
    events: (id, afterVersion, limit) => own.events(id, afterVersion, limit),
    write,
  });
  const access = accessOver(table, (write) => writer.write(write));
  const accepted = (commit: Commit): WrittenCommit => {
    const written = writtenCommit(commit);
    if (maxValueBytes !== undefined) refuseOversize(name, maxValueBytes, written);
    return written;
  };
  /** Makes a write in its turn, and what is to come with it in the same transaction. */
  const inOrder = <T>({ workflowId, alongside }: Commit, write: (access: WriteAccess) => Promise<T>): Promise<T> =>
    order.run(workflowId, () => {
      if (!alongside || !table.transact) return write(access);
      return table.transact(async (own, query) => {
        const result = await write(accessOver(own, async (one) => writtenOf((await own.write([one]))[0]!)));
        await alongside(query);
        return result;
      });
    });
  return checkedStore(
    {
      name,
      features,
      async create(commit, { claim } = {}) {
        const written = accepted(commit);
        return inOrder(commit, (own) => createExecution(own, commit, written, claim, retentionMs));
      },
      async commit(commit) {
        const written = accepted(commit);
        await inOrder(commit, (own) => commitExecution(own, written));
      },
      claim: (options) => claims.claim(options),
      renew: (claim) => claims.renew(claim),
      release: (claim, version) => order.run(claim.workflowId, () => claims.release(claim, version)),
      now: () => table.now(),
      async load(workflowId) {
        const stored = (await table.load([workflowId])).get(workflowId);
        return stored ? restoredSnapshot(name, stored) : null;
      },
      async events(workflowId, afterVersion, limit) {
        const rows = await table.events(workflowId, afterVersion, limit);
        return rows.map(({ version, commitId, text }) => ({ version, commitId, event: JSON.parse(text) as Event }));
      },
      list(query) {
        const labels = labelsOf(query.metadata ?? {});
        return executionPage(query.limit, query.cursor, (after, limit) => table.page(query, labels, after, limit));
      },
      async delete(workflowId) {
        const deleted = await order.run(workflowId, () => deleteExecution(table, writer, workflowId));
        await claims.forgetPermits([deleted]);
      },
      async prune(options) {
        const deleted = await pruneExecutions(table, writer, options, retentionMs);
        if (!options.dryRun) await claims.forgetPermits(deleted);
        // each version is one event
        return { executions: deleted.length, events: deleted.reduce((sum, { version }) => sum + version + 1, 0) };
      },
      async putDefinition(hash, definition) {
        // starts of known workflows write nothing
        if ((await records.get("definition", [hash])).has(hash)) return;
        await records.put("definition", [{ key: hash, expected: null, next: { revision: "1", text: JSON.stringify(definition) } }]);
      },
      async getDefinition(hash) {
        const record = (await records.get("definition", [hash])).get(hash);
        return record ? (JSON.parse(record.text) as WorkflowDefinition) : null;
      },
      async close() {
        await order.idle();
        await writer.idle();
        await table.close();
      },
    },
    errorOf,
  );
}
