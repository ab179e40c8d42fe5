import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isTerminal, type Status } from "../../../core/snapshot/snapshot.ts";
import type { ExecutionSummary, Page } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import { firstRow } from "../values/read-all.ts";
import { isUnfinished, withoutTimes } from "./cold-copy.ts";
import type { Tiers } from "./copy-execution.ts";
import { liveInCold } from "./load-cold.ts";
import { isStub } from "./redirect.ts";

type ListPage = Page<ExecutionSummary>;

/** First what is hot, newest first; then what is cold, moved last first. A cursor begins with the tier it goes on in. */
export async function listTiers(tiers: Tiers, { cursor, ...query }: CheckedQuery): Promise<ListPage> {
  if (cursor?.startsWith("c")) return listCold(tiers, query, cursor.slice(1) || undefined, new Set());
  if (cursor !== undefined && !cursor.startsWith("h")) {
    throw new StepfoldError("OPTION_INVALID", { option: "cursor", reason: "is none that this store gave out" });
  }
  const page = await tiers.hot.list(cursor === undefined ? query : { ...query, cursor: cursor.slice(1) });
  // a stub is listed where it lives
  const items = page.items.filter((item) => !isStub(item));
  if (page.nextCursor !== null) return { items, nextCursor: `h${page.nextCursor}` };
  const shown = new Set(items.map(({ workflowId }) => workflowId));
  const places = query.limit - items.length;
  const rest = await listCold(tiers, { ...query, limit: Math.max(1, places) }, undefined, shown);
  if (places === 0) return { items, nextCursor: rest.items.length > 0 ? "c" : null };
  return { items: [...items, ...rest.items], nextCursor: rest.nextCursor };
}

async function listCold(
  tiers: Tiers,
  { createdBefore = Number.POSITIVE_INFINITY, createdAfter = Number.NEGATIVE_INFINITY, status, limit, ...query }: CheckedQuery,
  from: string | undefined,
  shown: ReadonlySet<string>,
): Promise<ListPage> {
  const items: ExecutionSummary[] = [];
  const asked = { ...query, ...(status && { status: storedAs(status) }) };
  for (let cursor = from; ; ) {
    const page = await tiers.cold.list({ ...asked, limit: limit - items.length, ...(cursor !== undefined && { cursor }) });
    const living = await Promise.all(page.items.map((item) => livingIn(tiers, item)));
    const found = living
      .flatMap((item) => (item ? [withoutTimes(item) as ExecutionSummary] : []))
      .filter(({ createdAt, workflowId }) => createdAt < createdBefore && createdAt > createdAfter && !shown.has(workflowId));
    items.push(...found.filter((item) => status === undefined || status.includes(item.status)));
    if (page.nextCursor === null) return { items, nextCursor: null };
    if (items.length === limit) return { items, nextCursor: `c${page.nextCursor}` };
    cursor = page.nextCursor;
  }
}

/** What waits may still have the status of an unfinished copy. */
function storedAs(status: readonly Status[]): readonly Status[] {
  return status.includes("paused") && !status.includes("error") ? [...status, "error"] : status;
}

/** Null for what does not live in the cold store: what is in both counts as hot, and what waits there and is no copy is somebody else's. */
async function livingIn({ hot, cold }: Tiers, item: ExecutionSummary): Promise<ExecutionSummary | null> {
  const { workflowId } = item;
  const inHot = (await firstRow(hot, workflowId)) ? await hot.load(workflowId) : null;
  if (inHot && !isStub(inHot)) return null;
  if (!isUnfinished(item)) return isTerminal(item.status) || withoutTimes(item) !== item ? item : null;
  const live = inHot && (await liveInCold(cold, workflowId, true));
  return live && { ...item, status: live.status, currentNodeId: live.currentNodeId, version: live.version };
}
