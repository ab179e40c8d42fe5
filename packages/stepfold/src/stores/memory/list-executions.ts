import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { ExecutionSummary, ListQuery, Page } from "../../ports/snapshot-store.ts";
import type { Stored } from "./stored-execution.ts";

/** A page of executions, newest first. */
export function listExecutions(executions: Iterable<Stored>, query: ListQuery): Page<ExecutionSummary> {
  const { limit = 50 } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw new StepfoldError("OPTION_INVALID", { option: "limit", reason: "must be a whole number from 1 to 1000" });
  }
  const after = query.cursor === undefined ? null : readCursor(query.cursor);
  const found: Stored[] = [];
  for (const stored of executions) {
    if (after && !newer(after, stored)) continue;
    if (matches(stored, query)) found.push(stored);
  }
  found.sort((a, b) => (newer(a, b) ? -1 : 1));
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return { items: page.map(summaryOf), nextCursor: last && found.length > limit ? `${last.createdAt}.${last.seq}` : null };
}

interface Place {
  readonly createdAt: number;
  readonly seq: number;
}

const newer = (a: Place, b: Place): boolean => a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.seq > b.seq);

function readCursor(cursor: string): Place {
  const parts = /^(-?\d{1,16})\.(\d{1,16})$/.exec(cursor);
  if (!parts) throw new StepfoldError("OPTION_INVALID", { option: "cursor", reason: "is none that this store gave out" });
  return { createdAt: Number(parts[1]), seq: Number(parts[2]) };
}

function matches(stored: Stored, { status, definitionId, createdBefore, createdAfter, metadata }: ListQuery): boolean {
  if (status && !status.includes(stored.status)) return false;
  if (definitionId !== undefined && stored.definitionId !== definitionId) return false;
  if (createdBefore !== undefined && stored.createdAt >= createdBefore) return false;
  if (createdAfter !== undefined && stored.createdAt <= createdAfter) return false;
  if (!metadata) return true;
  const actual = (JSON.parse(stored.start) as SnapshotHead).metadata;
  return Object.entries(metadata).every(([key, value]) => Object.hasOwn(actual, key) && actual[key] === value);
}

function summaryOf(stored: Stored): ExecutionSummary {
  const { definition, metadata } = JSON.parse(stored.start) as SnapshotHead;
  const { currentNodeId } = JSON.parse(stored.head) as SnapshotHead;
  const { id, status, version, createdAt, updatedAt, wakeAt } = stored;
  return { workflowId: id, definition, status, currentNodeId, version, metadata, createdAt, updatedAt, wakeAt };
}
