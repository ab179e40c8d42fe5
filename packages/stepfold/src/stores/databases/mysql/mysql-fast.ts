import type { EpochMs } from "../../../core/values/json.ts";
import type { DueExecutions, ExecutionGuard, ExecutionTable } from "../../kit/execution-table.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { dueCondition, dueStatement, guardIn, guardSql, isWaiting } from "./mysql-rows.ts";
import { columnText, connected, inTransaction, numberOf } from "./mysql-session.ts";
import { among, clock, refuseLongName, type Tables } from "./mysql-statement.ts";

type DueClaim = Parameters<NonNullable<ExecutionTable["claimDue"]>>[0];

/** Claims what is due without a permit. A row that another transaction is writing is left for a later claim. */
export async function claimDue(pool: MysqlPool, tables: Tables, claim: DueClaim): Promise<DueExecutions & { readonly now: EpochMs }> {
  const { executions } = tables;
  const { owner, leaseMs, limit, overdueMs } = claim;
  refuseLongName("The owner of a claim", owner);
  // claims that find nothing lock nothing
  const look = `(SELECT 'plain' FROM ${executions} FORCE INDEX (due) WHERE due_key IS NULL AND ${dueCondition} LIMIT 1)
    UNION ALL (SELECT 'key' FROM ${executions} FORCE INDEX (waiting) WHERE ${isWaiting} LIMIT 1)`;
  const kinds = (await connected(pool, (session) => session.rows(look, [overdueMs, overdueMs]))).map(([kind]) => columnText(kind));
  const areKeysDue = kinds.includes("key");
  if (!kinds.includes("plain")) return { now: 0, executions: [], areKeysDue };
  return inTransaction(pool, async (session) => {
    const rows = await session.rows(`${dueStatement(tables, null, `${guardSql}, ${clock}`)} FOR UPDATE SKIP LOCKED`, [overdueMs, limit]);
    if (rows.length === 0) return { now: 0, executions: [], areKeysDue };
    const now = numberOf(rows[0]!.at(-1));
    const dueAt = now + leaseMs;
    const seqs = among(rows.map(([seq]) => numberOf(seq)));
    await session.run(
      // in this order: what is set is what is read further on
      `UPDATE ${executions} SET crashes = crashes + (owner IS NOT NULL), owner = ?, fence = fence + 1, due_at = ? WHERE seq ${seqs.text}`,
      [owner, dueAt, ...seqs.values],
    );
    const claimed = rows.map(guardIn).map((guard): ExecutionGuard => {
      return { ...guard, owner, dueAt, fence: guard.fence + 1, crashes: guard.crashes + (guard.owner === null ? 0 : 1) };
    });
    return { now, executions: claimed, areKeysDue };
  });
}
