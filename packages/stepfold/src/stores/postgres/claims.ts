import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Claimed, Lease } from "../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../kit/checked-store.ts";
import { endedClaim, keptClaim } from "../kit/verdict.ts";
import { type DueSpan, dueSpans } from "../record/due-time.ts";
import { claimLine, claimTurn, claimTurns, claimValues, isTaken, type Rota, type TurnOptions } from "./claim-turns.ts";
import type { Connection, TextRow } from "./connection.ts";
import { idOf, plainText, wholeText } from "./plain-text.ts";
import { loadSnapshots } from "./read-executions.ts";
import { readGuard } from "./stored-guard.ts";

/** Takes what is due. What is damaged stays claimed until the lease ends, so that it is not tried again and again. */
export async function claimDue(connection: Connection, rota: Rota, options: CheckedClaim): Promise<Claimed[]> {
  const { limit, timedOnly } = options;
  // what has a time says nothing about whether others were held up
  const own = timedOnly ? { ...rota, isOwed: false } : rota;
  const claimed: Claimed[] = [];
  for (const span of dueSpans(options)) {
    if (claimed.length < limit) claimed.push(...(await claimSpan(connection, own, { ...options, limit: limit - claimed.length }, span)));
  }
  return claimed;
}

async function claimSpan(connection: Connection, rota: Rota, options: CheckedClaim, span: DueSpan): Promise<Claimed[]> {
  const { limit, workflowId, permit } = options;
  if (workflowId !== undefined) return withSnapshots(connection, await claimById(connection, workflowId, options, span), options);
  const claimed: Claimed[] = [];
  /** Claims up to so many by one statement after the other. */
  const take = async (upTo: number, claim: (most: number) => Promise<readonly TextRow[]>): Promise<void> => {
    while (claimed.length < upTo) {
      const most = Math.min(upTo - claimed.length, 1000);
      const rows = await claim(most);
      claimed.push(...(await withSnapshots(connection, rows, options)));
      if (rows.length < most) return;
    }
  };
  if (permit !== undefined) {
    await take(limit, (most) => claimLine(connection, permit, { ...options, limit: most }, span));
    return claimed;
  }
  const takeTurns = (upTo: number): Promise<void> => take(upTo, (most) => claimTurns(connection, rota, { ...options, limit: most }, span));
  // those without a permit come first, but they leave half of the room to the others where they took all of it before
  if (rota.isOwed) await takeTurns(Math.ceil(limit / 2));
  let isTurn = false;
  await take(limit, async (most) => {
    const found = await claimPlain(connection, { ...options, limit: most }, span);
    isTurn = found.isTurn;
    return found.rows;
  });
  rota.isOwed = isTurn && claimed.length >= limit;
  if (isTurn) await takeTurns(limit);
  return claimed;
}

/** Claims executions without a permit, and tells whether one with a permit is due. */
async function claimPlain(connection: Connection, options: TurnOptions, span: DueSpan): Promise<{ rows: TextRow[]; isTurn: boolean }> {
  const { askAnew, sql } = connection;
  const rows = await askAnew(sql.claimDue, claimValues(options, wholeText(options.limit), span));
  return { rows: rows.filter(isTaken), isTurn: rows[0]!.turns !== null };
}

async function claimById(connection: Connection, workflowId: string, options: TurnOptions, span: DueSpan): Promise<readonly TextRow[]> {
  const { ask, sql } = connection;
  const [row] = await ask(sql.claimOne, claimValues(options, plainText(workflowId), span));
  if (isTaken(row!)) return [row!];
  return row!.turns === null ? [] : claimTurn(connection, workflowId, options, span);
}

async function withSnapshots(connection: Connection, rows: readonly TextRow[], { owner, leaseMs }: Lease): Promise<Claimed[]> {
  if (rows.length === 0) return [];
  const snapshots = await loadSnapshots(
    connection,
    rows.map(({ seq }) => seq!),
  );
  return rows.flatMap(({ seq, id, incarnation, fence, crashes, now }) => {
    const snapshot = snapshots.get(seq!);
    const numbers = { fence: Number(fence), claimedAt: Number(now), crashes: Number(crashes) };
    const claim = { workflowId: idOf(id!), incarnation: idOf(incarnation!), owner, leaseMs, ...numbers };
    return snapshot ? [{ claim, snapshot }] : [];
  });
}

/** Prolongs a claim. */
export async function renewClaim(connection: Connection, claim: Claim): Promise<{ version: number; status: Status; storeNow: EpochMs }> {
  const { ask, sql } = connection;
  const [row] = await ask(sql.renew, [...holderOf(claim), wholeText(claim.leaseMs)]);
  if (row) return renewed(row);
  const { guard, now: storeNow } = await readGuard(connection, claim.workflowId, 0);
  if (guard?.incarnation === claim.incarnation && guard.fence === claim.fence && guard.owner !== null) {
    // its lease has ended, and others may have its place
    const [late] = await connection.askAnew(sql.renewTurn, [...holderOf(claim), wholeText(claim.leaseMs)]);
    if (late) return renewed(late);
  }
  const { version, status } = endedClaim(claim, guard);
  return { version, status, storeNow };
}

function renewed({ version, status, now }: TextRow): { version: number; status: Status; storeNow: EpochMs } {
  return { version: Number(version), status: status as Status, storeNow: Number(now) };
}

/** Gives a claim back. */
export async function releaseClaim(connection: Connection, claim: Claim, version: number): Promise<void> {
  const { ask, sql } = connection;
  const rows = await ask(sql.release, [...holderOf(claim), wholeText(version)]);
  if (rows.length === 0) keptClaim(claim, version, (await readGuard(connection, claim.workflowId, 0)).guard);
}

function holderOf({ workflowId, incarnation, fence }: Claim): string[] {
  return [plainText(workflowId), plainText(incarnation), wholeText(fence)];
}
