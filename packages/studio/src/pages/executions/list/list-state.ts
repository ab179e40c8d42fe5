import type { ExecutionListQuery, ExecutionPage, ListedExecution } from "stepfold/client";
import type { EpochMs } from "stepfold/core";
import type { LinkState } from "../../../app/link-model.ts";
import type { Failure } from "../../../ui/feedback/failure.ts";
import { matchesQuery } from "./matches-query.ts";

/** A row of the list. It stays where it is, whatever becomes of it. */
export interface ListRow {
  readonly row: ListedExecution;
  /** False: it no longer matches the filters, or has been deleted. */
  readonly isMatch: boolean;
  /** The execution was deleted: this is its last state. */
  readonly isGone: boolean;
  /** When the server has told of it last, by its own clock: nothing is claimed of a later time. */
  readonly toldAt: EpochMs;
}

/** What the list shows. */
export interface ListState {
  readonly rows: readonly ListRow[];
  /** Rows that came while the list was shown, and wait until somebody wants to see them. */
  readonly arrived: readonly ListedExecution[];
  /** When the server has told of rows that arrived last. */
  readonly arrivedAt: EpochMs;
  /** False: the first page has not come yet. */
  readonly isLoaded: boolean;
  readonly isLoadingMore: boolean;
  /** Why the last page could not be loaded. */
  readonly failure: Failure | null;
  /** The cursor of the next page. Null: there is none. */
  readonly nextCursor: string | null;
  /** How many executions a filter by text has looked at. Null: the store has found them itself. */
  readonly looked: number | null;
  /** The code of the error for which the server can tell nothing at the moment. */
  readonly problem: string | null;
  readonly link: LinkState;
}

/** Returns the state with another page at its end, or with the first page. */
export function withPage(state: ListState, page: ExecutionPage, isFirst: boolean): ListState {
  const shown = isFirst ? [] : state.rows;
  const ids = new Set(shown.map(({ row }) => row.workflowId));
  const added = page.items
    .filter(({ workflowId }) => !ids.has(workflowId))
    .map((row): ListRow => ({ row, isMatch: true, isGone: false, toldAt: page.storeNow }));
  const rows = [...shown, ...added];
  const now = new Set(rows.map(({ row }) => row.workflowId));
  return {
    ...state,
    rows,
    arrived: isFirst ? [] : state.arrived.filter(({ workflowId }) => !now.has(workflowId)),
    isLoaded: true,
    isLoadingMore: false,
    failure: null,
    nextCursor: page.nextCursor,
    looked: page.looked === null ? null : (isFirst ? 0 : (state.looked ?? 0)) + page.looked,
    problem: null,
  };
}

/**
 * Returns the state after news of the server: shown rows change where they are, and new rows wait, so that no row moves under a pointer. In
 * a list without rows nothing can move, so new rows are shown at once.
 */
export function withNews(
  state: ListState,
  query: ExecutionListQuery,
  upsert: readonly ListedExecution[],
  gone: readonly string[],
  toldAt: EpochMs,
): ListState {
  const news = new Map(upsert.map((row) => [row.workflowId, row]));
  const lost = new Set(gone);
  const rows = state.rows.map((shown) => changed(shown, news.get(shown.row.workflowId), lost.has(shown.row.workflowId), query, toldAt));
  const ids = new Set(rows.map(({ row }) => row.workflowId));
  const waiting = new Map(state.arrived.map((row) => [row.workflowId, row]));
  for (const row of upsert)
    if (!ids.has(row.workflowId) && (waiting.has(row.workflowId) || isAhead(state, query, row))) waiting.set(row.workflowId, row);
  const arrived = [...waiting.values()].filter((row) => !lost.has(row.workflowId) && matchesQuery(row, query));
  const arrivedAt = upsert.length > 0 ? toldAt : state.arrivedAt;
  const next: ListState = { ...state, rows, arrived: arrived.sort(byAge(query)), arrivedAt, problem: null };
  return rows.length === 0 ? withArrived(next, query) : next;
}

/** Returns the state in which the rows that had arrived are shown, and those that no longer match have gone. */
export function withArrived(state: ListState, query: ExecutionListQuery): ListState {
  const kept = state.rows.filter(({ isMatch }) => isMatch);
  const added = state.arrived.map((row): ListRow => ({ row, isMatch: true, isGone: false, toldAt: state.arrivedAt }));
  const inOrder = byAge(query);
  return { ...state, rows: [...added, ...kept].sort((one, other) => inOrder(one.row, other.row)), arrived: [] };
}

function changed(shown: ListRow, news: ListedExecution | undefined, isGone: boolean, query: ExecutionListQuery, toldAt: EpochMs): ListRow {
  if (isGone) return { ...shown, isGone: true, isMatch: false };
  if (!news || isOlder(news, shown.row)) return shown;
  return { row: news, isMatch: matchesQuery(news, query), isGone: false, toldAt };
}

/** A page and the news come over two connections: what was known later counts. */
function isOlder(news: ListedExecution, shown: ListedExecution): boolean {
  return news.incarnation === shown.incarnation && news.version < shown.version;
}

/** Whether a row that is not shown is new. What comes after the last row that is shown belongs to a page that is still to be loaded. */
function isAhead({ rows, nextCursor }: ListState, query: ExecutionListQuery, row: ListedExecution): boolean {
  const last = rows.at(-1);
  return nextCursor === null || last === undefined || byAge(query)(row, last.row) <= 0;
}

function byAge({ order }: ExecutionListQuery): (one: ListedExecution, other: ListedExecution) => number {
  return (one, other) => (order === "oldest" ? one.createdAt - other.createdAt : other.createdAt - one.createdAt);
}
