import type { Status } from "../../core/snapshot/snapshot.ts";
import type { ExecutionSummary, ListQuery, Page } from "../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../kit/checked-store.ts";
import { executionPage, type ListedRow } from "../kit/list.ts";
import type { Connection, TextRow } from "./connection.ts";
import { labelsOf } from "./labels.ts";
import { idOf, joined, plainText, wholeText } from "./plain-text.ts";
import { list } from "./sql-parts.ts";

const columns = `seq::text, id, definition::text, metadata::text, version::text, status, head::text,
  created_at::text, updated_at::text, wake_at::text, owner, lease_until::text, crashes::text`;

/** A page of executions, newest first. */
export function listExecutions({ askAnew, sql }: Connection, query: CheckedQuery): Promise<Page<ExecutionSummary>> {
  const { conditions, values } = conditionsOf(query);
  const place = values.length;
  const text = `
    SELECT ${columns} FROM ${sql.schema}.executions
    WHERE ${conditions.join(" AND ")} AND (executions.created_at, executions.seq) < ($${place + 1}::bigint, $${place + 2}::bigint)
    ORDER BY executions.created_at DESC, executions.seq DESC LIMIT $${place + 3}::bigint`;
  const newest = { createdAt: Number.MAX_SAFE_INTEGER, seq: 0 };
  return executionPage(query.limit, query.cursor, async (after, limit) => {
    const { createdAt, seq } = after ?? newest;
    const rows = await askAnew(text, [...values, wholeText(createdAt), wholeText(seq), wholeText(limit)]);
    return rows.map(listedRow);
  });
}

/** The query as SQL. Text comes only from here; whatever the caller gave is bound. */
function conditionsOf({ status, definitionId, createdBefore, createdAfter, metadata }: ListQuery): {
  conditions: string[];
  values: string[];
} {
  const conditions: string[] = ["deleted_at IS NULL"];
  const values: string[] = [];
  const add = (condition: (parameter: number) => string, value: string): void => {
    values.push(value);
    conditions.push(condition(values.length));
  };
  if (status) add((parameter) => `status = ANY(${list(parameter)})`, joined(status.map(plainText)));
  if (definitionId !== undefined) add((parameter) => `definition_id = $${parameter}`, plainText(definitionId));
  if (createdBefore !== undefined) add((parameter) => `created_at < $${parameter}::bigint`, wholeText(createdBefore));
  if (createdAfter !== undefined) add((parameter) => `created_at > $${parameter}::bigint`, wholeText(createdAfter, Math.floor));
  const labels = labelsOf(metadata ?? {});
  if (labels.length > 0) {
    add(
      (parameter) => `labels @> ARRAY(SELECT sha256(convert_to(label, 'UTF8')) FROM unnest(${list(parameter)}) AS label)`,
      joined(labels),
    );
  }
  return { conditions, values };
}

function listedRow(row: TextRow): ListedRow {
  return {
    seq: Number(row.seq),
    id: idOf(row.id!),
    definition: row.definition!,
    metadata: row.metadata!,
    version: Number(row.version),
    status: row.status as Status,
    head: row.head!,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    wakeAt: row.wake_at === null ? null : Number(row.wake_at),
    owner: row.owner === null ? null : idOf(row.owner!),
    leaseUntil: row.lease_until === null ? null : Number(row.lease_until),
    crashes: Number(row.crashes),
  };
}
