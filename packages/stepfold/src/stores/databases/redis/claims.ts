import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim, Claimed, Lease } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../../kit/checked-store.ts";
import { endedClaim, type Guard, keptClaim } from "../../kit/verdict.ts";
import { snapshotOf } from "./load-snapshot.ts";
import { claimScript, releaseScript, renewScript } from "./redis-fast.ts";
import { guardOf, listOf, said } from "./redis-reply.ts";
import type { Script } from "./run-script.ts";
import { budgetBytes, damaged, type ScriptStore } from "./script-store.ts";

/** Most claims in one script. */
const mostClaims = 50;

/** Takes what is due. */
export async function claimDue(store: ScriptStore, wanted: CheckedClaim): Promise<Claimed[]> {
  const { owner, leaseMs, limit, workflowId, permit, overdueMs, timedOnly } = wanted;
  const { keys, run } = store;
  const claimed: Claimed[] = [];
  const names = workflowId === undefined ? [keys.due] : [keys.due, keys.head(workflowId)];
  for (let isMore = true; isMore && claimed.length < limit; ) {
    const most = Math.ceil(Math.min(mostClaims, limit - claimed.length));
    const [more, time, taken] = listOf(
      await run(claimScript, names, [
        ...[owner, String(leaseMs), String(most), budgetBytes, String(overdueMs)],
        permit === undefined ? "" : `=${permit}`,
        timedOnly ? "1" : "",
      ]),
    );
    const claimedAt = Number(said(time));
    const all = await Promise.all(listOf(taken).map((one) => claimOf(store, { owner, leaseMs, claimedAt }, listOf(one))));
    claimed.push(...all.filter((one) => one !== null));
    isMore = said(more) !== null;
  }
  return claimed;
}

/** Prolongs a claim. */
export async function renewClaim(
  store: ScriptStore,
  claim: Claim,
): Promise<{ readonly version: number; readonly status: Status; readonly storeNow: EpochMs }> {
  const { isDone, storeNow, guard } = await change(store, renewScript, claim, claim.leaseMs);
  const { version, status } = isDone && guard ? guard : endedClaim(claim, guard);
  return { version, status, storeNow };
}

/** Gives a claim back. */
export async function releaseClaim(store: ScriptStore, claim: Claim, version: number): Promise<void> {
  const { isDone, guard } = await change(store, releaseScript, claim, version);
  if (!isDone) keptClaim(claim, version, guard);
}

async function change(
  { name, keys, run }: ScriptStore,
  script: Script,
  { workflowId, incarnation, fence }: Claim,
  value: number,
): Promise<{ readonly isDone: boolean; readonly storeNow: EpochMs; readonly guard: Guard | null }> {
  const args = [incarnation, String(fence), String(value)];
  const [isDone, time, guard] = listOf(await run(script, [keys.due, keys.head(workflowId)], args));
  if (said(isDone) === "damaged") throw damaged(name, workflowId);
  return { isDone: said(isDone) !== null, storeNow: Number(said(time)), guard: guardOf(listOf(guard)) };
}

/** Null for what is damaged, which stays claimed until the lease ends, or was deleted meanwhile. */
async function claimOf(
  store: ScriptStore,
  held: Lease & { readonly claimedAt: EpochMs },
  [fence, rows, crashes]: readonly unknown[],
): Promise<Claimed | null> {
  const [id, incarnation] = listOf(rows).slice(0, 2).map(said);
  if (id == null || incarnation == null) return null;
  const { owner, leaseMs, claimedAt } = held;
  try {
    const snapshot = await snapshotOf(store, id, listOf(rows));
    const claim = { workflowId: id, incarnation, owner, leaseMs, fence: Number(said(fence)), claimedAt, crashes: Number(said(crashes)) };
    return snapshot && { claim, snapshot };
  } catch (error) {
    if (StepfoldError.is(error, "STORE_REJECTED")) return null;
    throw error;
  }
}
