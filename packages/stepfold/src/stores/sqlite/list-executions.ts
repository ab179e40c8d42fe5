import type { SQLInputValue, StatementSync } from "node:sqlite";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { SnapshotHead, Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { ExecutionSummary, ListQuery, Page } from "../../ports/snapshot-store.ts";
import type { Connection } from "./connection.ts";

interface Row {
  readonly seq: number;
  readonly id: string;
  readonly definition: string;
  readonly metadata: string;
  readonly version: number;
  readonly status: Status;
  readonly head: string;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  readonly wakeAt: EpochMs | null;
}

/** A page of executions, newest first. */
export function listExecutions({ db }: Connection, query: ListQuery): Page<ExecutionSummary> {
  const { limit = 50 } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw new StepfoldError("OPTION_INVALID", { option: "limit", reason: "must be a whole number from 1 to 1000" });
  }
  const { conditions, values } = conditionsOf(query);
  const statement = db.prepare(`
    SELECT seq, id, definition, metadata, version, status, head, created_at AS createdAt, updated_at AS updatedAt, wake_at AS wakeAt FROM executions
    ${conditions.length ? `WHERE ${conditions.join(" AND ")}` : ""} ORDER BY created_at DESC, seq DESC`);
  return pageOf(statement, values, limit);
}

/** Reads until the page is full; a damaged row is passed over. */
function pageOf(statement: StatementSync, values: readonly SQLInputValue[], limit: number): Page<ExecutionSummary> {
  const items: ExecutionSummary[] = [];
  let last: Row | undefined;
  for (const found of statement.iterate(...values)) {
    const row = found as unknown as Row;
    if (items.length === limit) return { items, nextCursor: `${last?.createdAt}.${last?.seq}` };
    const summary = summaryOf(row);
    if (!summary) continue;
    items.push(summary);
    last = row;
  }
  return { items, nextCursor: null };
}

function summaryOf(row: Row): ExecutionSummary | null {
  const { id: workflowId, version, status, createdAt, updatedAt, wakeAt } = row;
  try {
    const { currentNodeId } = JSON.parse(row.head) as SnapshotHead;
    const definition = JSON.parse(row.definition) as ExecutionSummary["definition"];
    const metadata = JSON.parse(row.metadata) as ExecutionSummary["metadata"];
    return { workflowId, definition, status, currentNodeId, version, metadata, createdAt, updatedAt, wakeAt };
  } catch {
    return null;
  }
}

/** The query as SQL. Text comes only from here; whatever the caller gave is bound. */
function conditionsOf(query: ListQuery): { conditions: string[]; values: SQLInputValue[] } {
  const { status, definitionId, createdBefore, createdAfter, metadata, cursor } = query;
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  const add = (condition: string, ...bound: SQLInputValue[]): void => {
    conditions.push(condition);
    values.push(...bound);
  };
  if (status) add(`status IN (${status.map(() => "?").join(", ")})`, ...status);
  if (definitionId !== undefined) add("definition_id = ?", definitionId);
  if (createdBefore !== undefined) add("created_at < ?", createdBefore);
  if (createdAfter !== undefined) add("created_at > ?", createdAfter);
  if (cursor !== undefined) add("(created_at, seq) < (?, ?)", ...readCursor(cursor));
  for (const [key, value] of Object.entries(metadata ?? {})) add(...equalMetadata(key, value));
  return { conditions, values };
}

function readCursor(cursor: string): [number, number] {
  const parts = /^(-?\d{1,16})\.(\d{1,16})$/.exec(cursor);
  if (!parts) throw new StepfoldError("OPTION_INVALID", { option: "cursor", reason: "is none that this store gave out" });
  return [Number(parts[1]), Number(parts[2])];
}

/** One key of the metadata equals a value of the same JSON type. The key is a bound value, never part of a JSON path. */
function equalMetadata(key: string, value: string | number | boolean | null): [string, ...SQLInputValue[]] {
  const among = (test: string): string =>
    `CASE WHEN json_valid(metadata) THEN EXISTS (SELECT 1 FROM json_each(metadata) AS entry WHERE entry.key = ? AND ${test}) END`;
  if (value === null || typeof value === "boolean") return [among("entry.type = ?"), key, String(value)];
  if (typeof value === "string") return [among("entry.type = 'text' AND entry.atom = ?"), key, value];
  // JSON writes a large number without a fraction: SQLite then reads an integer that no double equals
  return [among("entry.type IN ('integer', 'real') AND CAST(entry.atom AS REAL) = ?"), key, value];
}
