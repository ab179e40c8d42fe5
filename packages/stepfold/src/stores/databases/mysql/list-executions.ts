import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { ExecutionSummary, ListQuery, Page } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import { executionPage, type ListCursor, type ListedRow } from "../../kit/list.ts";
import { each } from "./batches.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { numberOf, numberOrNull, type Row, reading, type SqlValue, textOf } from "./mysql-session.ts";
import type { Tables } from "./tables.ts";

const columns = `seq, id, CAST(definition AS BINARY), CAST(metadata AS BINARY), version, status, CAST(head AS BINARY),
  created_at, updated_at, wake_at, owner, lease_until, crashes`;

/** A page of executions, newest first. */
export function listExecutions(pool: MysqlPool, { executions }: Tables, query: CheckedQuery): Promise<Page<ExecutionSummary>> {
  const { conditions, values } = conditionsOf(query);
  const where = [...conditions, "created_at <= ?", "(created_at < ? OR seq < ?)"].join(" AND ");
  const text = `SELECT ${columns} FROM ${executions} WHERE ${where} ORDER BY created_at DESC, seq DESC LIMIT ?`;
  const newest: ListCursor = { createdAt: Number.MAX_SAFE_INTEGER, seq: 0 };

  const next = async (after: ListCursor | null, limit: number): Promise<ListedRow[]> => {
    const found: ListedRow[] = [];
    for (let from = after ?? newest; ; ) {
      const wanted = limit - found.length;
      const { createdAt, seq } = from;
      const rows = await reading(pool, (session) => session.rows(text, [...values, createdAt, createdAt, seq, wanted]));
      const listed = rows.map(listedRow);
      found.push(...listed.filter((row) => hasMetadata(row, query.metadata)));
      if (found.length === limit || rows.length < wanted) return found;
      from = listed.at(-1)!;
    }
  };
  return executionPage(query.limit, query.cursor, next);
}

function listedRow(row: Row): ListedRow {
  const [seq, id, definition, metadata, version, status, head, createdAt, updatedAt, wakeAt, owner, leaseUntil, crashes] = row;
  return {
    seq: numberOf(seq),
    id: textOf(id),
    definition: textOf(definition),
    metadata: textOf(metadata),
    version: numberOf(version),
    status: textOf(status) as Status,
    head: textOf(head),
    createdAt: numberOf(createdAt),
    updatedAt: numberOf(updatedAt),
    wakeAt: numberOrNull(wakeAt),
    owner: owner === null ? null : textOf(owner),
    leaseUntil: numberOrNull(leaseUntil),
    crashes: numberOf(crashes),
  };
}

/** The query as SQL. Text comes only from here; whatever the caller gave is bound. */
function conditionsOf({ status, definitionId, createdBefore, createdAfter, metadata }: ListQuery): {
  conditions: string[];
  values: SqlValue[];
} {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const add = (condition: string, ...bound: SqlValue[]): void => {
    conditions.push(condition);
    values.push(...bound);
  };
  if (status?.length === 0) add("FALSE");
  else if (status) add(`status IN (${each(status.length, "?")})`, ...status);
  if (definitionId !== undefined) add("definition_id = ?", definitionId);
  if (createdBefore !== undefined) add("created_at < ?", createdBefore);
  if (createdAfter !== undefined) add("created_at > ?", createdAfter);
  for (const [key, value] of Object.entries(metadata ?? {})) {
    // metadata is stored as `JSON.stringify` wrote it, so this text is in it; `hasMetadata` tells where
    add("LOCATE(?, CAST(metadata AS BINARY)) > 0", `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  }
  return { conditions, values };
}

/** Judged here: the servers' JSON functions differ in how deep they read and in what equals what. */
function hasMetadata(row: ListedRow, wanted: ListQuery["metadata"]): boolean {
  const entries = Object.entries(wanted ?? {});
  if (entries.length === 0) return true;
  try {
    const metadata = JSON.parse(row.metadata) as Record<string, unknown>;
    return entries.every(([key, value]) => Object.hasOwn(metadata, key) && metadata[key] === value);
  } catch {
    return false;
  }
}
