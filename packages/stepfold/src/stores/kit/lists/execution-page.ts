import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { askedWaits } from "../../../core/reading/asked-waits.ts";
import { type HeadSummary, summaryOfHead } from "../../../core/reading/summary-of-head.ts";
import type { SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { ListedWait } from "../../../core/transition/draft/listed-waits.ts";
import type { ExecutionSummary, Page } from "../../../ports/execution-list.ts";
import type { WaitFilter } from "../../../ports/list-filters.ts";
import { crashesOfEnded } from "../claims/claim-count.ts";
import { waitsForRate } from "../claims/rate-key.ts";
import type { CheckedQuery } from "./checked-query.ts";
import { askedLabels, labelsOf } from "./labels.ts";
import type { ListCursor, ListedPart, ListedRow, PageQuery } from "./list-table.ts";
import { givenMetadata, storedMetadata } from "./metadata-column.ts";
import { equalValues, isInRanges, isRange } from "./metadata-range.ts";

/** The approximate number of rows that one call looks at. If few of them match, the next page continues from there. */
const maxLooked = 20_000;
/** The most rows to ask for at once. */
const maxRows = 1_000;

/** Turns a list query into the query for a table. */
export function pageQueryOf({ metadata = {}, tenant, waiting = {}, cursor, ...query }: CheckedQuery): PageQuery {
  const labels = [...labelsOf(storedMetadata(equalValues(metadata), tenant)), ...askedLabels(waiting)];
  return { ...query, labels, after: cursor === undefined ? null : readCursor(cursor) };
}

/**
 * Fills a page: asks the table for more rows until the page is full, or about `maxLooked` rows were looked at. It checks every row again,
 * because an index may be late, and not every table supports all conditions. Damaged rows are skipped, so that they do not end the list.
 */
export async function executionPage(query: CheckedQuery, next: (query: PageQuery) => Promise<ListedPart>): Promise<Page<ExecutionSummary>> {
  const { limit } = query;
  if (query.status?.length === 0) return { items: [], nextCursor: null };
  const asked = pageQueryOf(query);
  const items: ExecutionSummary[] = [];
  let last: ListCursor | null = null;
  let looked = 0;
  for (let { after } = asked; ; ) {
    // one row more than needed shows whether a next page exists; after many rows without a match, larger parts are read
    const wanted = Math.max(limit - items.length + 1, Math.min(looked, maxRows));
    const part = await next({ ...asked, after, limit: wanted });
    looked += part.looked ?? part.rows.length;
    for (const row of part.rows) {
      const summary = summaryOf(row, query.waiting !== undefined);
      if (!summary || !isWanted(summary, query)) continue;
      if (items.length === limit) return { items, nextCursor: cursorText(last!) };
      items.push(summary);
      last = row;
    }
    if (!part.next || looked >= maxLooked) return { items, nextCursor: part.next && cursorText(part.next) };
    after = part.next;
  }
}

/** Makes the list entry of a row. Null for a damaged row. @param asks whether it says what is asked (`ExecutionSummary.asked`) */
export function summaryOf(row: ListedRow, asks = false): ExecutionSummary | null {
  const { id: workflowId, incarnation, version, status, createdAt, updatedAt, wakeAt, owner, dueAt, crashes, sizeBytes } = row;
  if (![version, crashes, sizeBytes].every(Number.isSafeInteger)) return null;
  try {
    const head = readShort(row.head, asks);
    const definition = JSON.parse(row.definition) as ExecutionSummary["definition"];
    const given = givenMetadata(JSON.parse(row.metadata) as ExecutionSummary["metadata"]);
    const lease = owner === null || dueAt === null || waitsForRate(row) ? null : { owner, until: dueAt, crashes: crashesOfEnded(crashes) };
    const times = { createdAt, updatedAt, wakeAt: waitsForRate(row) ? dueAt : wakeAt };
    return { workflowId, incarnation, definition, status, version, ...given, ...times, lease, ...head, sizeBytes };
  } catch {
    return null;
  }
}

/** Reduces a head, as JSON, to the fields that a list shows, for a table in which reading the whole head costs more. */
export function shortHead(head: string): string {
  return JSON.stringify(readShort(head, true));
}

function readShort(head: string, asks: boolean): HeadSummary {
  const read = JSON.parse(head) as SnapshotHead | HeadSummary;
  if (!("waiting" in read)) return asks ? { ...summaryOfHead(read), asked: askedWaits(read.activePaths) } : summaryOfHead(read);
  const { asked: _, ...short } = read;
  return asks ? read : short;
}

/**
 * Returns true if labels alone decide whether an execution matches a query. They do not for bounds, for the times of waits, for any wait
 * (`{}`), and for several conditions on a wait, because labels do not show whether one and the same wait meets all of them.
 */
export function isDecidedByLabels({ waiting, metadata = {} }: CheckedQuery): boolean {
  if (Object.values(metadata).some(isRange)) return false;
  if (!waiting) return true;
  return askedLabels(waiting).length === 1 && waiting.openedBefore === undefined && waiting.openedAfter === undefined;
}

/** Returns true if an execution matches a query. */
function isWanted(summary: ExecutionSummary, query: CheckedQuery): boolean {
  const { workflowId, status, createdAt, metadata } = summary;
  if (query.status && !query.status.includes(status)) return false;
  if (query.definitionId !== undefined && query.definitionId !== summary.definition.id) return false;
  if (query.idPrefix !== undefined && !workflowId.startsWith(query.idPrefix)) return false;
  if (query.tenant !== undefined && query.tenant !== summary.tenant) return false;
  if (query.createdBefore !== undefined && createdAt >= query.createdBefore) return false;
  if (query.createdAfter !== undefined && createdAt <= query.createdAfter) return false;
  if (query.waiting && !summary.waits?.some((wait) => isAskedFor(wait, query.waiting!))) return false;
  const { metadata: filters = {} } = query;
  const isEqual = Object.entries(filters).every(
    ([key, filter]) => filter === undefined || isRange(filter) || (Object.hasOwn(metadata, key) && metadata[key] === filter),
  );
  return isEqual && isInRanges(metadata, filters);
}

function isAskedFor(
  { responders, openedAt, ...wait }: ListedWait,
  { responder, openedBefore, openedAfter, ...asked }: WaitFilter,
): boolean {
  if (responder !== undefined && !responders?.includes(responder)) return false;
  // a wait that an earlier version of Stepfold has opened has no time, so no bound matches it
  if (openedBefore !== undefined && !(openedAt !== undefined && openedAt < openedBefore)) return false;
  if (openedAfter !== undefined && !(openedAt !== undefined && openedAt > openedAfter)) return false;
  return Object.entries(asked).every(([field, value]) => value === undefined || wait[field as keyof typeof wait] === value);
}

function cursorText({ createdAt, seq }: ListCursor): string {
  return `${createdAt}.${seq}`;
}

/** @throws StepfoldError `OPTION_INVALID` for a text that is not a cursor */
function readCursor(cursor: string): ListCursor {
  const parts = /^(-?\d{1,16})\.(\d{1,16})$/.exec(cursor);
  if (!parts)
    throw new StepfoldError("OPTION_INVALID", {
      option: "cursor",
      reason: "is not a cursor of this store: pass nextCursor of the page before",
    });
  return { createdAt: Number(parts[1]), seq: Number(parts[2]) };
}
