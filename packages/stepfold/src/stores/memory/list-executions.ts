import type { Json } from "../../core/values/json.ts";
import type { ExecutionSummary, ListQuery, Page } from "../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../kit/checked-store.ts";
import { executionPage, type ListedRow, type Place } from "../record/execution-page.ts";
import type { Shelf } from "./shelf.ts";
import type { Stored } from "./stored-execution.ts";

/** A page of executions, newest first. */
export function listExecutions({ executions }: Shelf, query: CheckedQuery): Promise<Page<ExecutionSummary>> {
  return executionPage(query.limit, query.cursor, async (after, limit) => {
    const found: Stored[] = [];
    for (const stored of executions.values()) {
      if (after && !newer(after, stored)) continue;
      if (matches(stored, query)) found.push(stored);
    }
    return found
      .sort((a, b) => (newer(a, b) ? -1 : 1))
      .slice(0, limit)
      .map(listedRow);
  });
}

function listedRow(stored: Stored): ListedRow {
  return { ...stored, leaseUntil: stored.owner === null ? null : stored.dueAt };
}

const newer = (a: Place, b: Place): boolean => a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.seq > b.seq);

function matches(stored: Stored, { status, definitionId, createdBefore, createdAfter, metadata }: ListQuery): boolean {
  if (status && !status.includes(stored.status)) return false;
  if (definitionId !== undefined && stored.definitionId !== definitionId) return false;
  if (createdBefore !== undefined && stored.createdAt >= createdBefore) return false;
  if (createdAfter !== undefined && stored.createdAt <= createdAfter) return false;
  if (!metadata) return true;
  const actual = JSON.parse(stored.metadata) as Readonly<Record<string, Json>>;
  return Object.entries(metadata).every(([key, value]) => Object.hasOwn(actual, key) && actual[key] === value);
}
