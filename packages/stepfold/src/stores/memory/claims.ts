import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Claimed, Lease } from "../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../kit/checked-store.ts";
import { dueSpans } from "../record/due-time.ts";
import { endedClaim, keptClaim } from "../record/refusal.ts";
import { type DueQueue, isBefore } from "./due-queue.ts";
import { type Shelf, setDue, turnsOf } from "./shelf.ts";
import { type Stored, snapshotOf } from "./stored-execution.ts";
import { holds, letGo } from "./write-commit.ts";

/** Takes what is due. */
export function claimDue(shelf: Shelf, options: CheckedClaim): Claimed[] {
  const { limit, workflowId, permit, overdueMs, timedOnly } = options;
  const now = shelf.now();
  const spans = dueSpans(options).map(({ from, behindMs }) => ({ from, to: now - behindMs }));
  const isWanted = ({ dueAt }: Stored): boolean => dueAt !== null && spans.some(({ from, to }) => from <= dueAt && dueAt <= to);
  const claimed: Claimed[] = [];
  const add = (stored: Stored): void => {
    const one = take(shelf, stored, options, now);
    if (one) claimed.push(one);
  };
  if (workflowId !== undefined) {
    const stored = shelf.executions.get(workflowId);
    if (stored && isWanted(stored) && isFree(shelf, stored, now)) add(stored);
    return claimed;
  }
  const lines = permit === undefined ? [shelf.due, ...[...shelf.turns.values()].map(({ due }) => due)] : dueOf(shelf, permit);
  const others: { readonly line: DueQueue; readonly stored: Stored }[] = [];
  /** The first of a line that is wanted; null if nobody in it may be taken. */
  const firstOf = (line: DueQueue): { readonly line: DueQueue; readonly stored: Stored } | null => {
    for (;;) {
      const stored = line.take(now - overdueMs, timedOnly);
      if (!stored) return null;
      if (isWanted(stored) && isFree(shelf, stored, now)) return { line, stored };
      others.push({ line, stored });
      // whoever comes after it has to wait for its turn, too
      if (isWanted(stored)) return null;
    }
  };
  const first = lines.flatMap((line) => firstOf(line) ?? []);
  while (claimed.length < limit && first.length > 0) {
    const next = first.reduce((a, b) => (isBefore(a.stored, b.stored) ? a : b));
    first.splice(first.indexOf(next), 1);
    add(next.stored);
    first.push(...[firstOf(next.line) ?? []].flat());
  }
  for (const { line, stored } of [...others, ...first]) line.add(stored);
  return claimed;
}

function dueOf(shelf: Shelf, key: string): DueQueue[] {
  const turns = shelf.turns.get(key);
  return turns ? [turns.due] : [];
}

/** False if its lease has ended and others have its place by now. */
function keepsPlace(shelf: Shelf, stored: Stored, now: EpochMs): boolean {
  return stored.dueAt! > now || isFree(shelf, stored, now);
}

/** True if it takes turns with nobody, or it is its turn. */
function isFree(shelf: Shelf, stored: Stored, now: EpochMs): boolean {
  const turns = turnsOf(shelf, stored);
  if (!turns) return true;
  for (const one of turns.held) if (one.owner === null || one.dueAt === null || one.dueAt <= now) turns.held.delete(one);
  return turns.held.size < stored.permit!.limit;
}

/** Prolongs a claim. */
export function renewClaim(shelf: Shelf, claim: Claim): { version: number; status: Status; storeNow: EpochMs } {
  const { workflowId, incarnation, fence, leaseMs } = claim;
  const stored = shelf.executions.get(workflowId);
  const storeNow = shelf.now();
  if (stored?.incarnation === incarnation && holds(stored, fence) && keepsPlace(shelf, stored, storeNow)) {
    setDue(shelf, stored, storeNow + leaseMs);
    turnsOf(shelf, stored)?.held.add(stored);
    return { version: stored.version, status: stored.status, storeNow };
  }
  const { version, status } = endedClaim(claim, stored ?? null);
  return { version, status, storeNow };
}

/** Gives a claim back. */
export function releaseClaim(shelf: Shelf, claim: Claim, version: number): void {
  const stored = shelf.executions.get(claim.workflowId);
  if (stored?.incarnation !== claim.incarnation || !holds(stored, claim.fence) || stored.version !== version) {
    keptClaim(claim, version, stored ?? null);
    return;
  }
  letGo(shelf, stored);
}

/** Claims one. Null if what is stored is damaged: it stays claimed until the lease ends, so that it is not tried again and again. */
function take(shelf: Shelf, stored: Stored, { owner, leaseMs }: Lease, now: EpochMs): Claimed | null {
  // whoever had it until now was lost
  if (stored.owner !== null) stored.crashes += 1;
  stored.owner = owner;
  stored.fence += 1;
  setDue(shelf, stored, now + leaseMs);
  turnsOf(shelf, stored)?.held.add(stored);
  const { id: workflowId, incarnation, fence, crashes } = stored;
  const claim = { workflowId, incarnation, owner, leaseMs, fence, claimedAt: now, crashes };
  try {
    return { claim, snapshot: snapshotOf(stored) };
  } catch (error) {
    if (StepfoldError.is(error, "STORE_REJECTED")) return null;
    throw error;
  }
}
