import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { crashesAfter } from "../../kit/claims/guard.ts";
import { guardOf } from "../../kit/columns.ts";
import type { DueClaimed, ExecutionGuard, ExecutionTable } from "../../kit/execution-table.ts";
import { dueKindsStatement, dueStatement, guardSql } from "./mysql-rows.ts";
import type { OpenTables } from "./mysql-schema.ts";
import { among, clock, refuseLongName } from "./mysql-statement.ts";

/** What is to be claimed. */
export type DueClaim = Parameters<NonNullable<ExecutionTable["claimDue"]>>[0];

/** Claims what is due without a permit. A row that another transaction is writing is left for a later claim. */
export async function claimDue(open: OpenTables, { owner, leaseMs, limit, overdueMs, fenceStep }: DueClaim): Promise<DueClaimed> {
  const askedAtMs = performance.now();
  refuseLongName("The owner of a claim", owner);
  // claims that find nothing lock nothing
  const kinds = (await open.send("look", dueKindsStatement(open.tables), [overdueMs, overdueMs])).map(({ kind }) => kind);
  const nothing = { now: 0, executions: [], areKeysDue: kinds.includes("key") };
  if (!kinds.includes("plain")) return nothing;
  return open.run("write", async ({ ask }) => {
    const rows = await ask(`${dueStatement(open.tables, null, `${guardSql}, ${clock} AS now`)} FOR UPDATE SKIP LOCKED`, [overdueMs, limit]);
    if (rows.length === 0) return nothing;
    const now = Number(rows[0]!.now);
    const dueAt = now + leaseMs;
    const seqs = among(rows.map(({ seq }) => Number(seq)));
    await ask(
      // in this order: what is set is what is read further on
      `UPDATE ${open.tables.executions} SET crashes = crashes + (owner IS NOT NULL), owner = ?, fence = fence + ?, due_at = ? WHERE seq ${seqs.text}`,
      [owner, fenceStep, dueAt, ...seqs.values],
    );
    // a runtime counts the lease from its call: it would begin none of them, and they would count as lost. A busy server may take a second
    if (performance.now() - askedAtMs >= Math.max(leaseMs, 1_000))
      throw new StepfoldError("STORE_UNAVAILABLE", { store: "mysql", reason: `claiming took longer than the lease of ${leaseMs} ms` });
    const claimed = (guard: ExecutionGuard) => ({ ...guard, owner, dueAt, fence: guard.fence + fenceStep, crashes: crashesAfter(guard) });
    return { ...nothing, now, executions: rows.map((row) => claimed(guardOf(row))) };
  });
}
