import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot, SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { EndedSeries, EndStatus, ExecutionCounts, SeriesQuery } from "../../ports/execution-counts.ts";
import type { ExecutionSummary, Page } from "../../ports/execution-list.ts";
import { bucketMs, countExecutions, countsOf, emptySeries, endedSeries } from "../../ports/list-fallbacks.ts";
import type { AppendedRow, Claim, Commit, Lease, SnapshotStore, StoreFeatures } from "../../ports/snapshot-store.ts";
import type { DefinitionQuery, PutDefinitionOptions, StoredDefinition } from "../../ports/store-definitions.ts";
import type { PruneReport, TrimReport } from "../../ports/store-removal.ts";
import type { LiveWorker, WorkerBeat } from "../../ports/store-workers.ts";
import { type CheckedClaim, checkedStore, type StoreMethods } from "./checked-store.ts";
import { Claims } from "./claims/claims.ts";
import { TableDefinitionLibrary } from "./definition-library.ts";
import type { ExecutionTable } from "./execution-table.ts";
import { type CheckedPrune, type CheckedQuery, type CheckedTrim, checkedQuery } from "./lists/checked-query.ts";
import { executionPage, isDecidedByLabels, pageQueryOf, summaryOf } from "./lists/execution-page.ts";
import type { ListedRow } from "./lists/list-table.ts";
import { liveWorkers, storeBeat } from "./live-workers.ts";
import { readTogether } from "./read-together.ts";
import { restoredHead, wholeHeadOf } from "./restoring/restored-head.ts";
import { restoredSnapshot, type StoredRows } from "./restoring/restored-snapshot.ts";
import { TableKeys } from "./table-keys.ts";
import { type Deleted, defaultRetentionMs, deleteExecution, pruneExecutions } from "./tombstones.ts";
import { trimExecutions } from "./trim-executions.ts";
import { keyedLock } from "./writing/keyed-lock.ts";
import { type RowWriter, rowWriter, writtenOf } from "./writing/row-writer.ts";
import { bytesOf, refuseOversize } from "./writing/value-limit.ts";
import { commitExecution, createExecution, type WriteAccess } from "./writing/writes.ts";
import { type WrittenCommit, writtenCommit } from "./writing/written-commit.ts";

/** Options that the user of every store may set. */
export interface RetentionOptions {
  /** How long the id of a deleted execution stays taken, in milliseconds from its deletion on. Default 30 days. */
  readonly idempotencyRetentionMs?: number | undefined;
}

/** Options of a store over a table. */
export interface StoreOptions extends RetentionOptions {
  /** The most bytes of JSON in one part of a commit, for a table that does not tell this limit as `features.maxValueBytes`. */
  readonly maxValueBytes?: number;
  /** Turns an error of the database into `STORE_UNAVAILABLE` if the same call may succeed later, else into `STORE_REJECTED`. */
  readonly errorOf: (cause: unknown) => StepfoldError;
}

/** The most executions that are loaded in one round trip. */
const maxLoads = 100;
/** The most heads that are read in one round trip. Heads are small. */
const maxHeads = 200;

/** Makes a store of a database's table. All rules are in the kit; the table only reads and writes rows. */
export function storeOver(table: ExecutionTable, options: StoreOptions): SnapshotStore {
  return checkedStore(new TableStore(table, options), options.errorOf);
}

class TableStore implements StoreMethods {
  readonly name: string;
  readonly features: StoreFeatures;
  readonly #table: ExecutionTable;
  readonly #maxValueBytes: number | undefined;
  readonly #retentionMs: number;
  readonly #writer: RowWriter;
  readonly #claims: Claims;
  readonly #definitions: TableDefinitionLibrary;
  readonly keptKeys: TableKeys;
  readonly #load: (workflowId: string) => Promise<StoredRows | null>;
  readonly #head: (workflowId: string) => Promise<ListedRow | null>;
  /** The access for writes without `alongside`. */
  readonly #access: WriteAccess;
  /** Makes writes of one execution one after the other, because a pool may send them over several connections at the same time. */
  readonly #order = keyedLock();

  constructor(table: ExecutionTable, { idempotencyRetentionMs: retentionMs = defaultRetentionMs, maxValueBytes }: StoreOptions) {
    this.name = table.name;
    this.features = { ...table.features, ...(table.features.permits && { taskQueues: true }), lists: true, definitions: true, keys: true };
    this.#table = table;
    this.#maxValueBytes = table.features.maxValueBytes ?? maxValueBytes;
    this.#retentionMs = retentionMs;
    this.#writer = rowWriter(table);
    this.#access = this.#accessTo(table, (write) => this.#writer.write(write));
    this.#claims = new Claims(table, this.#writer);
    this.#definitions = new TableDefinitionLibrary(table);
    this.keptKeys = new TableKeys(table);
    this.#load = readTogether((ids) => table.load(ids), maxLoads);
    this.#head = readTogether(async (ids) => new Map((await table.heads(ids)).map((row) => [row.id, row])), maxHeads);
  }

  async create(commit: Commit, { claim }: { readonly claim?: Lease } = {}): Promise<Claim | null> {
    const written = this.#written(commit);
    if (claim) this.#table.lockLimit?.learn(claim.leaseMs);
    return this.#inOrder(commit, (access) => createExecution(access, commit, written, claim, this.#retentionMs));
  }

  commit(commit: Commit): Promise<void> {
    const written = this.#written(commit);
    return this.#inOrder(commit, (access) => commitExecution(access, written));
  }

  async load(workflowId: string): Promise<Snapshot | null> {
    const stored = await this.#load(workflowId);
    return stored ? restoredSnapshot(this.name, stored) : null;
  }

  async loadHead(workflowId: string): Promise<SnapshotHead | null> {
    const row = await this.#head(workflowId);
    if (!row) return null;
    return wholeHeadOf(this.#table, restoredHead(this.name, row)).catch(async (error: unknown) => {
      // the events may be missing because they, or the execution, were deleted after the row was read: then read again
      const present = await this.#head(workflowId);
      if (present?.incarnation === row.incarnation && present.version === row.version) throw error;
      return this.loadHead(workflowId);
    });
  }

  claim(options: CheckedClaim): Promise<readonly Claim[]> {
    this.#table.lockLimit?.learn(options.leaseMs);
    return this.#claims.claim(options);
  }

  renew(claim: Claim): ReturnType<SnapshotStore["renew"]> {
    return this.#claims.renew(claim);
  }

  release(claim: Claim, version: number): Promise<void> {
    return this.#order.run([claim.workflowId], () => this.#claims.release(claim, version));
  }

  async now(): Promise<EpochMs> {
    return (await this.#table.read([])).now;
  }

  async events(workflowId: string, afterVersion: number, limit: number): Promise<AppendedRow[]> {
    const rows = await this.#table.events(workflowId, afterVersion, limit);
    return rows.map(({ version, commitId, text }) => ({ version, commitId, event: JSON.parse(text) as Event }));
  }

  list(query: CheckedQuery): Promise<Page<ExecutionSummary>> {
    return executionPage(query, (asked) => this.#table.lists.page(asked));
  }

  async count(query: CheckedQuery): Promise<ExecutionCounts> {
    const { order: _, limit, cursor: __, ...which } = query;
    if (query.status?.length === 0) return { ...countsOf(new Map(), limit), complete: true };
    const counted = isDecidedByLabels(query) ? await this.#table.lists.count?.(pageQueryOf(query)) : null;
    if (!counted) return countExecutions({ list: (listed) => this.list(checkedQuery(listed!)) }, which, limit);
    const { counts, complete = true, looked } = counted;
    return { ...countsOf(counts, limit), complete, ...(looked !== undefined && { looked }) };
  }

  async summaries(workflowIds: readonly string[]): Promise<readonly ExecutionSummary[]> {
    return (await this.#table.heads(workflowIds)).map((row) => summaryOf(row)).filter((summary) => summary !== null);
  }

  async ended(query: SeriesQuery): Promise<EndedSeries> {
    if (!this.#table.lists.endedCounts) return endedSeries({ list: (listed) => this.list(checkedQuery(listed!)) }, query);
    const { buckets, add } = emptySeries(query);
    const { counts, complete = true, looked } = await this.#table.lists.endedCounts(query);
    for (const { bucket, status, durationClass, amount } of counts) {
      add(query.from + bucket * bucketMs(query), status as EndStatus, durationClass, amount);
    }
    return { buckets, complete, ...(looked !== undefined && { looked }) };
  }

  beat(beat: WorkerBeat): Promise<void> {
    return storeBeat(this.#table, beat);
  }

  workers(): Promise<readonly LiveWorker[]> {
    return liveWorkers(this.#table);
  }

  async delete(workflowId: string): Promise<void> {
    await this.#forget(await this.#order.run([workflowId], () => deleteExecution(this.#table, this.#writer, workflowId)));
  }

  async prune(options: CheckedPrune): Promise<PruneReport> {
    const pruned = await pruneExecutions(this.#table, this.#writer, options, this.#retentionMs);
    await this.#forget(pruned);
    const { executions: deleted } = pruned;
    return {
      executions: deleted.length,
      // each version is one event
      events: deleted.reduce((sum, { version, trimmed }) => sum + version + 1 - trimmed, 0),
      deleted: deleted.map(({ id, incarnation }) => ({ workflowId: id, incarnation })),
    };
  }

  trim(options: CheckedTrim): Promise<TrimReport> {
    return trimExecutions(this.#table, this.#writer, options);
  }

  /** Writes nothing if the definition is stored and listed already. */
  putDefinition(hash: string, definition: WorkflowDefinition, options?: PutDefinitionOptions): Promise<void> {
    return this.#definitions.put(hash, definition, options);
  }

  async getDefinition(hash: string): Promise<WorkflowDefinition | null> {
    const record = (await this.#table.records.get("definition", [hash])).get(hash);
    return record ? (JSON.parse(record.text) as WorkflowDefinition) : null;
  }

  listDefinitions(query: DefinitionQuery): Promise<readonly StoredDefinition[]> {
    return this.#definitions.list(query);
  }

  label(id: string, hash: string | null, expected: string | null): Promise<void> {
    return this.#definitions.label(id, hash, expected);
  }

  labels(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#definitions.labels(ids);
  }

  async close(): Promise<void> {
    await this.#order.idle();
    await this.#writer.idle();
    await this.#table.close?.();
  }

  /** Deletes what the store keeps of deleted executions in records of its own. */
  async #forget({ keys, owned }: Deleted): Promise<void> {
    await this.#claims.forget(keys);
    for (const { owner, days } of owned) await this.keptKeys.drop(owner, days);
  }

  #written(commit: Commit): WrittenCommit {
    const written = writtenCommit(commit);
    const maxBytes = this.#maxValueBytes;
    if (maxBytes === undefined) return written;
    refuseOversize(this.name, maxBytes, written);
    // a checkpoint that is too large is left out: then the next load only reads more events
    return written.checkpoint === null || bytesOf(written.checkpoint) <= maxBytes ? written : { ...written, checkpoint: null };
  }

  /** Makes a write after all earlier writes of the same execution; in one transaction with `alongside` if the table has transactions. */
  #inOrder<T>({ workflowId, alongside }: Commit, write: (access: WriteAccess) => Promise<T>): Promise<T> {
    const table = this.#table;
    return this.#order.run([workflowId], () => {
      if (!alongside || !table.transact) return write(this.#access);
      return table.transact(async (own, query) => {
        const result = await write(this.#accessTo(own, async (one) => writtenOf((await own.write([one]))[0]!)));
        await alongside(query);
        return result;
      });
    });
  }

  #accessTo(table: Pick<ExecutionTable, "read" | "events">, write: WriteAccess["write"]): WriteAccess {
    return {
      name: this.name,
      read: (ids) => table.read(ids),
      events: (id, afterVersion, limit) => table.events(id, afterVersion, limit),
      write,
    };
  }
}
