import { isTerminal } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { durationClassOf, type SeriesQuery } from "../../ports/execution-counts.ts";
import { bucketMs } from "../../ports/list-fallbacks.ts";
import { isExempt } from "./claims/exempt.ts";
import { isDue } from "./claims/guard.ts";
import type { ExecutionGuard, NewExecution, RowChanges, RowCondition, RowWrite } from "./execution-rows.ts";
import type { EarlierRunsQuery, EndedCount, EndedQuery, ListCursor, ListedPart, ListedRow, PageQuery } from "./lists/list-table.ts";
import type { WrittenChild } from "./writing/written-commit.ts";

// The meaning of conditions, changes and queries, for tables that apply them in this process. Databases express the same in their language.

/** All columns of an execution. A tombstone has empty texts. */
export interface ExecutionRow extends ExecutionGuard, Omit<NewExecution, "due"> {
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  readonly endedAt: EpochMs | null;
  readonly checkpointVersion: number | null;
  /** When the present run began, while events of earlier runs are stored; else null. */
  readonly runAt: EpochMs | null;
}

/** Returns true if the row meets the condition of a write. */
export function meetsCondition(row: ExecutionGuard, when: RowCondition, now: EpochMs): boolean {
  const { incarnation, version = row.version, fence = row.fence, held = row.owner !== null, open, due, deleted = false } = when;
  const { runSince = row.runSince } = when;
  if (row.incarnation !== incarnation || row.version !== version || row.fence !== fence || (row.owner !== null) !== held) return false;
  if ((row.deletedAt !== null) !== deleted || open === isTerminal(row.status) || row.runSince !== runSince) return false;
  return !due || isDue(row, now, 0);
}

/** Returns when an execution is due after a change. */
export function dueAtAfter(row: ExecutionGuard, { state, due, dueUnlessHeld }: RowChanges, now: EpochMs): EpochMs | null {
  const { dueAt, owner } = row;
  if (due === undefined || (dueUnlessHeld && owner !== null)) return dueAt;
  if (due !== "atWakeUp") return now + due.inMs;
  const { wakeAt } = state ?? row;
  // due at once: an earlier time stays, so that the execution that has been due longest comes first
  return wakeAt !== null && wakeAt <= 0 ? Math.min(dueAt ?? now, now) : wakeAt;
}

/** Returns the row that an insert makes. */
export function insertedRow({ id, row }: RowWrite & { readonly kind: "insert" }, seq: number, now: EpochMs): ExecutionRow {
  const { due, ...given } = row;
  const times = { createdAt: now, updatedAt: now, endedAt: isTerminal(given.status) ? now : null, deletedAt: null };
  const noRun = { checkpointVersion: null, runSince: null, runAt: null, trimmed: 0 };
  const made = { ...given, ...times, ...noRun, id, seq, crashes: 0, dueAt: null };
  return { ...made, dueAt: dueAtAfter(made, { due }, now) };
}

/** Returns the row after any write but an insert; null: the row is removed. */
export function rowAfter(row: ExecutionRow, write: Exclude<RowWrite, { readonly kind: "insert" }>, now: EpochMs): ExecutionRow | null {
  if (write.kind === "trim") return { ...row, trimmed: write.when.runSince - 1, runSince: null, runAt: null };
  if (write.kind !== "update") {
    const texts = { definition: "{}", head: "", metadata: "{}", labels: "" };
    const empty = { ...texts, owner: null, dueAt: null, exemptAt: null, endedAt: null, runSince: null, runAt: null };
    return write.kind === "remove" ? null : { ...row, ...empty, deletedAt: now };
  }
  const { state: given, due: _, dueUnlessHeld: __, ...columns } = write.set;
  const { run, ...state } = given ?? {};
  const times = given && { updatedAt: now, endedAt: isTerminal(given.status) ? now : null };
  const begun = run && { runSince: run.since, runAt: run.at };
  return { ...row, ...columns, ...state, ...times, ...begun, dueAt: dueAtAfter(row, write.set, now) };
}

/** The columns by which due executions are sorted. */
type DueOrder = Pick<ExecutionGuard, "dueAt" | "seq">;

/** Sorts due executions: the longest due first; if the times are equal, the execution that was created first. */
export function byDueTime(a: DueOrder, b: DueOrder): number {
  return a.dueAt! - b.dueAt! || a.seq - b.seq;
}

/** Returns those of the rows that may be claimed without a permit. */
export function exemptRows<T extends ExecutionGuard>(rows: Iterable<T>, limit: number, now: EpochMs, overdueMs: number): T[] {
  const found = [...rows].filter((row) => isExempt(row, now, overdueMs));
  return found.sort((a, b) => a.exemptAt! - b.exemptAt! || a.seq - b.seq).slice(0, limit);
}

/** Returns the comparison that sorts a list. It is negative if `a` comes first. */
export function listOrder(order: PageQuery["order"]): (a: ListCursor, b: ListCursor) => number {
  const sign = order === "newest" ? -1 : 1;
  return (a, b) => sign * (a.createdAt - b.createdAt || a.seq - b.seq);
}

/** Returns true if an execution matches a query and comes after its cursor. */
export function isListed(
  row: ExecutionGuard & ListCursor & Pick<NewExecution, "definitionId" | "labels">,
  { status, definitionId, createdBefore, createdAfter, idPrefix = "", labels, after, order }: PageQuery,
): boolean {
  if (row.deletedAt !== null || (after && listOrder(order)(after, row) >= 0)) return false;
  if (status && !status.includes(row.status)) return false;
  if (definitionId !== undefined && row.definitionId !== definitionId) return false;
  if (createdBefore !== undefined && row.createdAt >= createdBefore) return false;
  if (createdAfter !== undefined && row.createdAt <= createdAfter) return false;
  return row.id.startsWith(idPrefix) && labels.every((label) => row.labels.includes(label));
}

/** Makes a part of a list from the rows up to the limit of the query. Nothing follows if there are fewer rows than the limit. */
export function listedPart(rows: readonly ListedRow[], { limit }: PageQuery): ListedPart {
  return { rows, next: rows.length < limit ? null : rows.at(-1)! };
}

/** Returns the bucket and the class of an ended row. `updatedAt` is the time of its end, because nothing changes afterwards. */
export function endedCountOf(row: Pick<ListedRow, "status" | "createdAt" | "updatedAt">, query: SeriesQuery): EndedCount {
  const { status, createdAt, updatedAt } = row;
  const bucket = Math.floor((updatedAt - query.from) / bucketMs(query));
  return { bucket, status, durationClass: durationClassOf(updatedAt - createdAt), amount: 1 };
}

/** Returns the rows that may be deleted, the oldest first. */
export function endedRows<T extends ExecutionGuard & Pick<ExecutionRow, "endedAt" | "definitionId">>(
  rows: readonly T[],
  { before, limit, ended }: EndedQuery,
): T[] {
  const timeOf = ({ endedAt, deletedAt }: T): EpochMs => (ended ? endedAt : deletedAt) ?? Number.POSITIVE_INFINITY;
  const isWanted = ({ status, definitionId }: T): boolean =>
    !ended || (ended.statuses.includes(status) && (ended.definitionId ?? definitionId) === definitionId);
  const wanted = rows.filter((row) => timeOf(row) < before && isWanted(row));
  return wanted.sort((a, b) => timeOf(a) - timeOf(b) || a.seq - b.seq).slice(0, limit);
}

/** Returns the executions that have events of earlier runs, the oldest present run first. */
export function earlierRuns<T extends Pick<ExecutionRow, "id" | "runAt" | "seq" | "definitionId">>(
  rows: readonly T[],
  { before, limit, definitionId, id }: EarlierRunsQuery,
): T[] {
  const isNamed = (row: T): boolean => (definitionId ?? row.definitionId) === row.definitionId && (id ?? row.id) === row.id;
  const wanted = rows.filter((row) => row.runAt !== null && row.runAt < before && isNamed(row));
  return wanted.sort((a, b) => a.runAt! - b.runAt! || a.seq - b.seq).slice(0, limit);
}

/** Returns the place of an event, or of the next one that is stored, in a list of all stored events. */
export function ordinalOf(version: number, { trimmed }: Pick<ExecutionGuard, "trimmed">): number {
  return version <= 0 ? 0 : Math.max(1, version - trimmed);
}

/** Applies the changes of a commit to children: a map of their heads by key, in order of creation. */
export function changeChildren(children: Map<string, string>, changed: readonly WrittenChild[]): void {
  for (const { key, text, moved } of changed) {
    if (text === null || moved) children.delete(key);
    if (text !== null) children.set(key, text);
  }
}

/** Returns true if a write does not wait for a row that another transaction has locked. A trim can be made later just as well. */
export function skipsLocked(write: RowWrite): boolean {
  return write.kind === "trim" || (write.kind === "update" && write.skipLocked === true);
}
