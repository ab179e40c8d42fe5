import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { checkOptions, must, type OptionCheck } from "../../core/values/check-arguments.ts";
import type { AppendedRow, SnapshotStore } from "../../ports/snapshot-store.ts";
import { requireHead } from "../context/store/require-snapshot.ts";
import type { EventPage, EventsQuery } from "./run.ts";

/** A version of an execution, or -1, which is before the first one. */
export const aVersion: OptionCheck = must(
  "be a whole number, at least -1",
  (value) => Number.isSafeInteger(value) && (value as number) >= -1,
);
const aLimit = must(
  "be a whole number from 1 to 1,000",
  (value) => Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= 1_000,
);

/** @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN` */
export function checkEventsQuery(query: EventsQuery): void {
  checkOptions<EventsQuery>("run.events", query, { after: aVersion, before: aVersion, limit: aLimit });
  if (query.after !== undefined && query.before !== undefined)
    throw new StepfoldError("OPTION_INVALID", { option: "before", reason: "cannot be given together with `after`" });
}

/** Reads a part of a history. @throws StepfoldError `WORKFLOW_NOT_FOUND` */
export async function eventPage(
  store: SnapshotStore,
  workflowId: string,
  { after = -1, before, limit = 100 }: EventsQuery,
): Promise<EventPage> {
  const page = before === undefined ? await pageAfter(store, workflowId, after, limit) : await pageBefore(store, workflowId, before, limit);
  // an empty page may be the end of a history, or that of no execution
  if (page.items.length === 0) await requireHead(store, workflowId);
  return page;
}

async function pageAfter(store: SnapshotStore, workflowId: string, after: number, limit: number): Promise<EventPage> {
  const rows = await store.events(workflowId, after, limit + 1);
  const shown = rows.slice(0, limit);
  return { items: eventsOf(shown), next: rows.length > limit ? shown.at(-1)!.version : null };
}

async function pageBefore(store: SnapshotStore, workflowId: string, given: number, limit: number): Promise<EventPage> {
  const before = Math.min(given, (await requireHead(store, workflowId)).version + 1);
  const wanted = before - limit;
  const rows = (await store.events(workflowId, wanted - 1, limit)).filter(({ version }) => version < before);
  // where events of earlier runs were trimmed, the first event is all that lies before
  const [first] = wanted > 0 && rows.length < limit ? await store.events(workflowId, -1, 1) : [];
  const shown = first && first.version < (rows[0]?.version ?? before) ? [first, ...rows] : rows;
  const from = shown[0]?.version ?? 0;
  return { items: eventsOf(shown), next: from > 0 ? from : null };
}

function eventsOf(rows: readonly AppendedRow[]): EventPage["items"] {
  return rows.map(({ event }) => event);
}
