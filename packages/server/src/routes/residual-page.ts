import type { ExecutionSummary, ListQuery, Page } from "stepfold";
import type { ScopedRuntime } from "stepfold/runtime";
import type { Audience } from "../views/audience.ts";
import type { ResidualQuery } from "./list-query.ts";

/** The most executions that one call looks at. */
const maxLooked = 20_000;
const pageSize = 200;

/** A page of what a residual filter has found. */
export interface ResidualPage extends Page<ExecutionSummary> {
  readonly looked: number;
  readonly complete: boolean;
}

/** Where a page begins: behind an execution, in a page of the store or after it. */
interface PagePosition {
  /** The cursor of the store's page; null for the first one. */
  readonly page: string | null;
  readonly createdAt?: number;
  readonly id?: string;
}

/**
 * Looks for executions that the store cannot select, page by page, until there are enough of them, or `maxLooked` were looked at, or the store
 * has looked at as many as it may.
 */
export async function residualPage(
  runtime: Pick<ScopedRuntime, "list">,
  { cursor, limit = 50, ...query }: ListQuery,
  residual: Partial<ResidualQuery>,
  sees: Audience,
): Promise<ResidualPage> {
  const items: ExecutionSummary[] = [];
  let position = positionIn(cursor);
  let looked = 0;
  for (let isFull = true; isFull && looked < maxLooked; ) {
    const page = await runtime.list({ ...query, limit: pageSize, ...(position.page !== null && { cursor: position.page }) });
    const rest = behind(page.items, position, query.order);
    for (const [index, item] of rest.entries()) {
      looked++;
      if (!matches(item, residual, sees)) continue;
      items.push(item);
      const isLast = index === rest.length - 1 && page.nextCursor === null;
      if (items.length === limit && !isLast)
        return {
          items,
          looked,
          complete: true,
          nextCursor: textOf({ page: position.page, createdAt: item.createdAt, id: item.workflowId }),
        };
    }
    if (page.nextCursor === null) return { items, looked, complete: true, nextCursor: null };
    // the store ends a page early when it has looked at as many executions as it may in one call
    isFull = page.items.length === pageSize;
    // what has begun meanwhile may have moved the position to a later page
    position = { ...position, page: page.nextCursor };
  }
  return { items, looked, complete: false, nextCursor: textOf(position) };
}

/** Returns the part of a page behind a position. The execution at the position may have been deleted meanwhile. */
function behind(
  items: readonly ExecutionSummary[],
  { id, createdAt }: PagePosition,
  order: ListQuery["order"],
): readonly ExecutionSummary[] {
  if (id === undefined || createdAt === undefined) return items;
  const index = items.findIndex(({ workflowId }) => workflowId === id);
  if (index >= 0) return items.slice(index + 1);
  return items.filter((item) => (order === "oldest" ? item.createdAt >= createdAt : item.createdAt <= createdAt));
}

function matches(item: ExecutionSummary, { q, node, error }: Partial<ResidualQuery>, { values }: Audience): boolean {
  const { workflowId, definition, currentNodeId, metadata, parked, waits = [] } = item;
  if (error !== undefined && item.error?.code !== error && parked?.code !== error) return false;
  if (node !== undefined && currentNodeId !== node && item.error?.nodeId !== node && !waits.some(({ nodeId }) => nodeId === node))
    return false;
  if (q === undefined) return true;
  const texts = [workflowId, definition.id, currentNodeId, item.error?.code, item.error?.nodeId, parked?.code, JSON.stringify(metadata)];
  // a caller who may not read messages must not find out by a search what is in them
  if (values) texts.push(item.error?.message, parked?.message);
  const wanted = q.toLowerCase();
  return texts.some((one) => one?.toLowerCase().includes(wanted));
}

function textOf(position: PagePosition): string {
  return JSON.stringify(position);
}

function positionIn(cursor: string | undefined): PagePosition {
  if (cursor === undefined) return { page: null };
  try {
    const { page, createdAt, id } = JSON.parse(cursor) as Readonly<Record<string, unknown>>;
    if (page === null || typeof page === "string")
      return { page, ...(typeof createdAt === "number" && { createdAt }), ...(typeof id === "string" && { id }) };
  } catch {
    // it is none of these cursors
  }
  // the store says what is wrong with it
  return { page: cursor };
}
