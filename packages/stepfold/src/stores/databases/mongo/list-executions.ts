import type { Json } from "../../../core/values/json.ts";
import type { ExecutionSummary, Page } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import { executionPage, type ListedRow } from "../../kit/list.ts";
import { type Collections, reading } from "./collections.ts";
import type { MongoDocument } from "./mongo-client.ts";

const projection = { tail: 0, meta: 0 };

/** A page of executions, newest first. */
export function listExecutions({ executions }: Collections, query: CheckedQuery): Promise<Page<ExecutionSummary>> {
  const conditions = conditionsOf(query);
  return executionPage(query.limit, query.cursor, async (after, limit) => {
    const { createdAt, seq } = after ?? { createdAt: Number.MAX_SAFE_INTEGER, seq: 0 };
    const place = { $or: [{ createdAt: { $lt: createdAt } }, { createdAt, seq: { $lt: seq } }] };
    const options = { ...reading, projection, sort: { createdAt: -1, seq: -1 }, limit };
    const found = await executions.find({ $and: [{ createdAt: { $gte: 0 } }, ...conditions, place] }, options).toArray();
    return found.map((row) => ({ ...(row as unknown as ListedRow), id: row._id as string, crashes: (row.crashes ?? 0) as number }));
  });
}

/** The top-level metadata that can be asked for, each as the text of its key and value. */
export function metadataEntries(metadata: Readonly<Record<string, Json>>): string[] {
  return Object.entries(metadata)
    .filter(([, value]) => value === null || typeof value !== "object")
    .map(([key, value]) => entryOf(key, value));
}

/** The query as filters. Keys of the metadata are part of a value, never of a field's name. */
function conditionsOf({ status, definitionId, createdBefore, createdAfter, metadata }: CheckedQuery): MongoDocument[] {
  const conditions: MongoDocument[] = [];
  if (status) conditions.push({ status: { $in: [...status] } });
  if (definitionId !== undefined) conditions.push({ definitionId: { $eq: definitionId } });
  if (createdBefore !== undefined) conditions.push({ createdAt: { $lt: createdBefore } });
  if (createdAfter !== undefined) conditions.push({ createdAt: { $gt: createdAfter } });
  for (const [key, value] of Object.entries(metadata ?? {})) conditions.push({ meta: { $eq: entryOf(key, value) } });
  return conditions;
}

function entryOf(key: string, value: Json): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
}
