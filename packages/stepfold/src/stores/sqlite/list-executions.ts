import type { ExecutionSummary, Page } from "../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../kit/checked-store.ts";
import { executionPage, type ListedRow } from "../kit/list.ts";
import { listStatement } from "../sql/sqlite-list.ts";
import type { Connection } from "./connection.ts";

/** A page of executions, newest first. */
export function listExecutions({ db }: Connection, query: CheckedQuery): Promise<Page<ExecutionSummary>> {
  const { sql, values } = listStatement(query);
  const found = db.prepare(sql);
  return executionPage(query.limit, query.cursor, async (after, limit) => found.all(...values(after, limit)) as unknown as ListedRow[]);
}
