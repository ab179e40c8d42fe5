import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Claimed, Lease } from "../../ports/snapshot-store.ts";
import type { LibsqlRow } from "../databases/libsql/libsql-client.ts";
import type { CheckedClaim } from "../kit/checked-store.ts";
import { endedClaim } from "../kit/verdict.ts";
import { type DueSpan, dueSpans } from "../record/due-time.ts";
import type { Connection } from "./connection.ts";
import { type Found, nextDue } from "./next-due.ts";
import { snapshotOf, textOf } from "./read-snapshot.ts";
import { sql } from "./statements.ts";
import { guardOf } from "./write-commit.ts";

/** Most executions that are claimed in one transaction: their histories come in one answer. */
const mostTogether = 32;

/** Takes what is due. Pollers that find nothing only read, and do not stand in the way of writers. */
export async function claimDue(connection: Connection, options: CheckedClaim): Promise<Claimed[]> {
  const { limit } = options;
  const claimed: Claimed[] = [];
  for (const span of dueSpans(options)) {
    while (claimed.length < limit) {
      const found = await nextDue(connection, options, span, Math.min(limit - claimed.length, mostTogether));
      if (found.length === 0) break;
      claimed.push(...(await take(connection, options, found, span)));
    }
  }
  return claimed;
}

/** Prolongs a claim. */
export async function renewClaim(connection: Connection, claim: Claim): Promise<{ version: number; status: Status; storeNow: EpochMs }> {
  const { workflowId, incarnation, fence, leaseMs } = claim;
  const time = connection.time();
  const statements = [sql.renew(workflowId, incarnation, fence, leaseMs, time), sql.verdict(workflowId, 0, time)];
  const [renewed, stored] = await connection.write(statements);
  const row = renewed!.rows[0];
  if (row) return { version: Number(row.version), status: row.status as Status, storeNow: Number(row.storeNow) };
  const kept = stored!.rows[0];
  const { version, status } = endedClaim(claim, kept ? guardOf(kept) : null);
  return { version, status, storeNow: Number(kept?.now) };
}

/** Claims those of the executions found that nobody else took meanwhile, and whose turn it still is. */
async function take(
  connection: Connection,
  { owner, leaseMs, workflowId, permit }: CheckedClaim,
  found: readonly Found[],
  { from, behindMs }: DueSpan,
): Promise<Claimed[]> {
  const begin = [connection.time(), from, behindMs] as const;
  const lease = [owner, leaseMs] as const;
  const turns = found.filter(({ takesTurns }) => takesTurns);
  const plain = found.filter(({ takesTurns }) => !takesTurns);
  const wanted = jsonOf(found);
  const takes =
    workflowId !== undefined
      ? [sql.takeOne(...begin, wanted, workflowId, ...lease)]
      : [
          ...(plain.length > 0 ? [sql.take(...begin, jsonOf(plain), null, ...lease)] : []),
          ...(turns.length > 0 ? [sql.takeTurns(...begin, jsonOf(turns), turns.length, ...lease, permit ?? null)] : []),
        ];
  const lapses = turns.length > 0 ? [sql.lapse(connection.time(), jsonOf(turns))] : [];
  const results = await connection.write([...lapses, ...takes, sql.heldEvents(wanted, owner), sql.heldChildren(wanted, owner)]);
  const rows = new Map(results.slice(lapses.length, -2).flatMap((taken) => taken.rows.map((row) => [Number(row.seq), row] as const)));
  const eventsOf = byExecution(results.at(-2)!.rows);
  const childrenOf = byExecution(results.at(-1)!.rows);
  return found.flatMap(({ seq }) => {
    const row = rows.get(seq);
    return row ? claimedOf(row, { owner, leaseMs }, eventsOf.get(seq) ?? [], childrenOf.get(seq) ?? []) : [];
  });
}

function jsonOf(found: readonly Found[]): string {
  return JSON.stringify(found.map(({ seq }) => seq));
}

/** Nothing if what is stored is damaged: it stays claimed until the lease ends, so that it is not tried again and again. */
function claimedOf(row: LibsqlRow, lease: Lease, events: readonly LibsqlRow[], children: readonly LibsqlRow[]): Claimed[] {
  try {
    const snapshot = snapshotOf(row, events, children);
    const { key, incarnation, fence, claimedAt, crashes } = row;
    const numbers = { fence: Number(fence), claimedAt: Number(claimedAt), crashes: Number(crashes) };
    const { owner, leaseMs } = lease;
    return [{ claim: { workflowId: textOf(key), incarnation: incarnation as string, owner, leaseMs, ...numbers }, snapshot }];
  } catch (error) {
    if (StepfoldError.is(error, "STORE_REJECTED")) return [];
    throw error;
  }
}

function byExecution(rows: readonly LibsqlRow[]): ReadonlyMap<number, LibsqlRow[]> {
  const parts = new Map<number, LibsqlRow[]>();
  for (const row of rows) {
    const execution = Number(row.execution);
    const part = parts.get(execution);
    if (part) part.push(row);
    else parts.set(execution, [row]);
  }
  return parts;
}
