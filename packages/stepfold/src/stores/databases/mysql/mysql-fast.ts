import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { crashesAfter } from "../../kit/claims/guard.ts";
import { guardOf } from "../../kit/columns.ts";
import type { ExecutionGuard } from "../../kit/execution-rows.ts";
import type { DueClaimed, ExecutionTable } from "../../kit/execution-table.ts";
import { dueKindsStatement, dueStatement, guardSql } from "./mysql-rows.ts";
import type { OpenTables } from "./mysql-schema.ts";
import { clock, inList, refuseLongName } from "./mysql-statement.ts";

/** The parameters of a claim of due executions. */
export type DueClaim = Parameters<NonNullable<ExecutionTable["claimDue"]>>[0];

/** Claims due executions without a permit. Rows that another transaction is writing are left for a later claim. */
export async function claimDue(open: OpenTables, { owner, leaseMs, limit, overdueMs, fenceStep }: DueClaim): Promise<DueClaimed> {
  const askedAtMs = performance.now();
  refuseLongName("The owner of a claim", owner);
  // looks without locks first, so that a claim that finds nothing locks nothing
  const kinds = (await open.send("peek", dueKindsStatement(open.tables), [overdueMs, overdueMs, overdueMs])).map(({ kind }) => kind);
  const someDue = kinds.includes("exempt") ? "exempt" : "some";
  const nothing: DueClaimed = { now: 0, executions: [], keyedDue: kinds.includes("key") ? someDue : "none" };
  if (!kinds.includes("plain")) return nothing;
  return open.run("write", async ({ ask }) => {
    const rows = await ask(`${dueStatement(open.tables, null, `${guardSql}, ${clock} AS now`)} FOR UPDATE SKIP LOCKED`, [overdueMs, limit]);
    if (rows.length === 0) return nothing;
    const now = Number(rows[0]!.now);
    const dueAt = now + leaseMs;
    const seqs = inList(rows.map(({ seq }) => Number(seq)));
    await ask(
      // the order matters: the server assigns from left to right, so `crashes` must read `owner` before `owner` changes
      `UPDATE ${open.tables.executions} SET crashes = crashes + (owner IS NOT NULL), owner = ?, fence = fence + ?, due_at = ? WHERE seq ${seqs.text}`,
      [owner, fenceStep, dueAt, ...seqs.values],
    );
    // undoes a claim that took longer than the lease: a runtime counts the lease from its call, so it would begin none of these executions,
    // and the claims would count as lost. A busy server may take up to a second, even if the lease is shorter
    if (performance.now() - askedAtMs >= Math.max(leaseMs, 1_000))
      throw new StepfoldError("STORE_UNAVAILABLE", { store: "mysql", reason: `claiming took longer than the lease of ${leaseMs} ms` });
    const claimed = (guard: ExecutionGuard) => ({ ...guard, owner, dueAt, fence: guard.fence + fenceStep, crashes: crashesAfter(guard) });
    return { ...nothing, now, executions: rows.map((row) => claimed(guardOf(row))) };
  });
}
