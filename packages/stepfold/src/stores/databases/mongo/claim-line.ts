import type { Claimed } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../../kit/checked-store.ts";
import type { Turnstile } from "../../record/turnstile.ts";
import { type Collections, reading } from "./collections.ts";
import { isDue } from "./due-time.ts";
import { type NewHolder, noteHolders, type PermitRow, permitRows, settle, takeOut } from "./permit-row.ts";
import { claimedOf, takeExecution } from "./take-execution.ts";

/** Most executions that are claimed at once. */
const mostTogether = 16;

/** How often it is tried to write a row that others write in the same moment: each time, one of them was let in. */
const mostTries = 100;

/**
 * Claims executions that share a key, longest due first; with `workflowId` that one, if there is a place for it.
 *
 * @param known the row of the key, if it was just read
 */
export function claimInLine(
  collections: Collections,
  turnstile: Turnstile,
  key: string,
  options: CheckedClaim,
  known?: PermitRow,
): Promise<readonly Claimed[]> {
  const { workflowId, overdueMs } = options;
  return turnstile.pass(`key ${key}`, workflowId === undefined ? overdueMs : null, () => claimNext(collections, key, options, known));
}

async function claimNext(
  collections: Collections,
  key: string,
  options: CheckedClaim,
  known?: PermitRow,
): Promise<{ readonly found: readonly Claimed[]; readonly isAll: boolean }> {
  const claimed: Claimed[] = [];
  let row = known;
  for (let tries = 0; tries < mostTries && claimed.length < options.limit; tries++) {
    row ??= (await permitRows(collections, [key]))[0]!;
    const ended = await Promise.all(row.lost.map((one) => settle(collections, one)));
    const wanted = Math.min(options.limit - claimed.length, mostTogether);
    const next = ended.includes(false) ? null : await nextIn(collections, row, wanted, options);
    // a row that was read before tells nothing to those who came since
    if (next?.length === 0) return { found: claimed, isAll: row !== known };
    const isNoted = next !== null && (await noteHolders(collections, row, next, options.leaseMs));
    const isFresh = row !== known;
    row = undefined;
    if (!isNoted) continue;
    tries = 0;
    const taken = await Promise.all(next.map((one) => takeNoted(collections, key, one, options)));
    for (const one of taken) if (one && one !== "missed") claimed.push(one);
    if (next.length < wanted && !taken.includes("missed")) return { found: claimed, isAll: isFresh };
  }
  return { found: claimed, isAll: false };
}

/** Those whose turn it is. */
async function nextIn({ executions }: Collections, { key, held }: PermitRow, limit: number, options: CheckedClaim): Promise<NewHolder[]> {
  const { workflowId, overdueMs } = options;
  const which = { $nin: held.map(({ id }) => id), ...(workflowId !== undefined && { $eq: String(workflowId) }) };
  const steps = [
    { $match: { permitKey: { $eq: key }, turnAt: { $gte: 0 }, _id: which, $expr: isDue(overdueMs, "$turnAt") } },
    { $sort: { turnAt: 1, createdAt: 1, seq: 1 } },
    { $limit: limit },
    { $project: { incarnation: 1, fence: 1, permitLimit: 1 } },
  ];
  const found = await executions.aggregate(steps, reading).toArray();
  const next: NewHolder[] = [];
  for (const { _id, incarnation, fence, permitLimit } of found) {
    // whoever comes after one that has to wait has to wait, too
    if (held.length + next.length >= (permitLimit as number)) break;
    next.push({ id: _id as string, incarnation: incarnation as string, fence: (fence as number) + 1 });
  }
  return next;
}

/** Claims one that is noted as a holder. */
async function takeNoted(
  collections: Collections,
  key: string,
  noted: NewHolder,
  options: CheckedClaim,
): Promise<Claimed | "missed" | null> {
  const { id: _id, incarnation, fence } = noted;
  const stored = await takeExecution(collections, { _id, incarnation, fence: fence - 1 }, "turnAt", options);
  if (stored) return claimedOf(collections, stored, options);
  await takeOut(collections, key, noted);
  return "missed";
}
