import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ExecutionSummary, Page } from "../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../record/checked-store.ts";
import type { Tiers } from "./copy-execution.ts";
import { firstRow } from "./history.ts";
import { ended } from "./move-executions.ts";
import { withoutTimes } from "./moved-copy.ts";

type ListPage = Page<ExecutionSummary>;

/** First what is hot, newest first; then what is cold, moved last first. A cursor begins with the tier it goes on in. */
export async function listTiers(tiers: Tiers, { cursor, ...query }: CheckedQuery): Promise<ListPage> {
  if (cursor?.startsWith("c")) return listCold(tiers, query, cursor.slice(1) || undefined, new Set());
  if (cursor !== undefined && !cursor.startsWith("h")) {
    throw new StepfoldError("OPTION_INVALID", { option: "cursor", reason: "is none that this store gave out" });
  }
  const page = await tiers.hot.list(cursor === undefined ? query : { ...query, cursor: cursor.slice(1) });
  if (page.nextCursor !== null) return { items: page.items, nextCursor: `h${page.nextCursor}` };
  const shown = new Set(page.items.map(({ workflowId }) => workflowId));
  const places = query.limit - page.items.length;
  const rest = await listCold(tiers, { ...query, limit: Math.max(1, places) }, undefined, shown);
  if (places === 0) return { items: page.items, nextCursor: rest.items.length > 0 ? "c" : null };
  return { items: [...page.items, ...rest.items], nextCursor: rest.nextCursor };
}

async function listCold(
  { hot, cold }: Tiers,
  { createdBefore = Number.POSITIVE_INFINITY, createdAfter = Number.NEGATIVE_INFINITY, status = ended, limit, ...query }: CheckedQuery,
  from: string | undefined,
  shown: ReadonlySet<string>,
): Promise<ListPage> {
  const items: ExecutionSummary[] = [];
  const asked = { ...query, status: status.filter((one) => ended.includes(one)) };
  for (let cursor = from; ; ) {
    const page = await cold.list({ ...asked, limit: limit - items.length, ...(cursor !== undefined && { cursor }) });
    const found = page.items
      .map((item): ExecutionSummary => withoutTimes(item))
      .filter(({ createdAt, workflowId }) => createdAt < createdBefore && createdAt > createdAfter && !shown.has(workflowId));
    // what is in both counts as hot
    const inHot = await Promise.all(found.map(({ workflowId }) => firstRow(hot, workflowId)));
    items.push(...found.filter((_, index) => inHot[index] === undefined));
    if (page.nextCursor === null) return { items, nextCursor: null };
    if (items.length === limit) return { items, nextCursor: `c${page.nextCursor}` };
    cursor = page.nextCursor;
  }
}
