import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { askedWaits } from "../../../core/reading/asked-waits.ts";
import { summaryOfHead } from "../../../core/reading/summary-of-head.ts";
import { isTerminal, type Status } from "../../../core/snapshot/snapshot.ts";
import type { ExecutionSummary, Page } from "../../../ports/execution-list.ts";
import type { CheckedQuery } from "../../kit/lists/checked-query.ts";
import { isPartial, withOriginalTimes } from "./cold-copy.ts";
import { loadCold } from "./load-cold.ts";
import { isRedirect } from "./redirect.ts";
import type { Tiers } from "./tiers.ts";

type ListPage = Page<ExecutionSummary>;

/** Lists the hot store, newest first, then the cold store, last moved first. A cursor begins with the letter of the store: h or c. */
export async function listTiers(tiers: Tiers, { cursor, ...query }: CheckedQuery): Promise<ListPage> {
  if (cursor?.startsWith("c")) return listCold(tiers, query, cursor.slice(1) || undefined, new Set());
  if (cursor !== undefined && !cursor.startsWith("h")) {
    throw new StepfoldError("OPTION_INVALID", {
      option: "cursor",
      reason: "is not a cursor of this store: pass nextCursor of the page before",
    });
  }
  const page = await tiers.hot.list(cursor === undefined ? query : { ...query, cursor: cursor.slice(1) });
  const items = page.items.filter((item) => !isRedirect(item));
  if (page.nextCursor !== null) return { items, nextCursor: `h${page.nextCursor}` };
  const listed = new Set(items.map(({ workflowId }) => workflowId));
  const room = query.limit - items.length;
  const rest = await listCold(tiers, { ...query, limit: Math.max(1, room) }, undefined, listed);
  if (room === 0) return { items, nextCursor: rest.items.length > 0 ? "c" : rest.nextCursor };
  return { items: [...items, ...rest.items], nextCursor: rest.nextCursor };
}

/** Lists the cold store. Times are compared here, because the times in the cold store are not those of the originals. */
async function listCold(
  tiers: Tiers,
  { createdBefore = Number.POSITIVE_INFINITY, createdAfter = Number.NEGATIVE_INFINITY, status, limit, ...query }: CheckedQuery,
  from: string | undefined,
  alreadyListed: ReadonlySet<string>,
): Promise<ListPage> {
  const items: ExecutionSummary[] = [];
  const stored = { ...query, ...(status && { status: storedStatuses(status) }) };
  for (let cursor = from; ; ) {
    const wanted = limit - items.length;
    const page = await tiers.cold.list({ ...stored, limit: wanted, ...(cursor !== undefined && { cursor }) });
    const live = await Promise.all(page.items.map((item) => liveSummary(tiers, item)));
    const found = live
      .flatMap((item) => (item ? [withOriginalTimes(item) as ExecutionSummary] : []))
      .filter(({ createdAt, workflowId }) => createdAt < createdBefore && createdAt > createdAfter && !alreadyListed.has(workflowId));
    items.push(...found.filter((item) => status === undefined || status.includes(item.status)));
    if (page.nextCursor === null) return { items, nextCursor: null };
    // a page that is not full means that the cold store has looked at as many executions as it does in one call
    if (items.length === limit || page.items.length < wanted) return { items, nextCursor: `c${page.nextCursor}` };
    cursor = page.nextCursor;
  }
}

/** Returns the statuses to search in the cold store: a waiting execution whose copy there is still partial has the status `error`. */
function storedStatuses(status: readonly Status[]): readonly Status[] {
  return status.includes("paused") && !status.includes("error") ? [...status, "error"] : status;
}

/** Returns the list entry of an execution that lives in the cold store; null if it does not live there. */
async function liveSummary({ hot, cold }: Tiers, item: ExecutionSummary): Promise<ExecutionSummary | null> {
  const { workflowId } = item;
  const inHot = await hot.load(workflowId);
  // an execution that is in both stores lives in the hot one
  if (inHot && !isRedirect(inHot)) return null;
  // an open execution that was not moved there belongs to another store
  if (!isPartial(item)) return isTerminal(item.status) || withOriginalTimes(item) !== item ? item : null;
  const live = inHot && (await loadCold(cold, workflowId, true));
  if (!live) return null;
  const { status, version, sizeBytes } = live;
  const asked = item.asked && { asked: askedWaits(live.activePaths) };
  return { ...item, status, version, sizeBytes, ...summaryOfHead(live), ...asked };
}
