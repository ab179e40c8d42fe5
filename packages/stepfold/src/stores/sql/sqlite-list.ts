import type { ListQuery } from "../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../kit/checked-store.ts";
import type { ListCursor } from "../kit/list.ts";

/** What SQLite takes for a parameter. */
type SqlValue = string | number | null;

const columns = `seq, definition, metadata, version, status, head, created_at AS createdAt, updated_at AS updatedAt, wake_at AS wakeAt,
      lease_until AS leaseUntil, crashes`;

/** A page of executions, newest first, as a statement. */
export interface ListStatement {
  readonly sql: string;
  /** What to bind for the rows after a place. */
  values(after: ListCursor | null, limit: number): SqlValue[];
}

/**
 * The query as SQL. Text comes only from here; whatever the caller gave is bound.
 *
 * @param text what gives the text of a column that may hold any character
 */
export function listStatement(query: CheckedQuery, text = (column: string): string => `executions.${column}`): ListStatement {
  const { conditions, values } = conditionsOf(query);
  const sql = `
    SELECT ${text("id")} AS id, ${text("owner")} AS owner, ${columns} FROM executions WHERE ${[...conditions, "(created_at, seq) < (?, ?)"].join(" AND ")}
    ORDER BY created_at DESC, seq DESC LIMIT ?`;
  return {
    sql,
    values: (after, limit) => [...values, after?.createdAt ?? Number.MAX_SAFE_INTEGER, after?.seq ?? 0, limit],
  };
}

function conditionsOf(query: ListQuery): { conditions: string[]; values: SqlValue[] } {
  const { status, definitionId, createdBefore, createdAfter, metadata } = query;
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const add = (condition: string, ...bound: SqlValue[]): void => {
    conditions.push(condition);
    values.push(...bound);
  };
  if (status) add(`status IN (${status.map(() => "?").join(", ")})`, ...status);
  if (definitionId !== undefined) add("definition_id = ?", definitionId);
  if (createdBefore !== undefined) add("created_at < ?", createdBefore);
  if (createdAfter !== undefined) add("created_at > ?", createdAfter);
  for (const [key, value] of Object.entries(metadata ?? {})) add(...equalMetadata(key, value));
  return { conditions, values };
}

/** One key of the metadata equals a value of the same JSON type. The key is a bound value, never part of a JSON path. */
function equalMetadata(key: string, value: string | number | boolean | null): [string, ...SqlValue[]] {
  const among = (test: string): string =>
    `CASE WHEN json_valid(metadata) THEN EXISTS (SELECT 1 FROM json_each(metadata) AS entry WHERE entry.key = ? AND ${test}) END`;
  if (value === null || typeof value === "boolean") return [among("entry.type = ?"), key, String(value)];
  if (typeof value === "string") return [among("entry.type = 'text' AND entry.atom = ?"), key, value];
  // JSON writes a large number without a fraction: SQLite then reads an integer that no double equals
  return [among("entry.type IN ('integer', 'real') AND CAST(entry.atom AS REAL) = ?"), key, value];
}
