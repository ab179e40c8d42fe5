import { isTerminal } from "../../core/snapshot/snapshot.ts";
import { maxTailMs } from "./ledger.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

/** How often something may happen to the store. */
const lookMs = 1_000;
const maxBrownOutLeases = 10;
const maxLockLeases = 3;
/** How long nobody answers while the copy takes over. */
const downMs = [1_000, 3_000] as const;

/** What happens to the store as a whole, from time to time. */
export function beginOutages(world: World): void {
  const { faults, scheduler, plan } = world;
  const random = world.random.fork("outages");
  const look = (): void => {
    if (faults.happens("brownOut")) brownOut(world, random.between(plan.leaseMs, maxBrownOutLeases * plan.leaseMs));
    if (faults.happens("rowLock")) lockRow(world, random.between(100, maxLockLeases * plan.leaseMs), random);
    if (faults.happens("failover")) world.failOver(random.between(0, maxTailMs), random.between(...downMs));
    if (plan.mode === "safety" || scheduler.nowMs < plan.faultsUntilMs) scheduler.after(random.between(lookMs / 2, lookMs * 2), look);
  };
  scheduler.after(random.between(0, lookMs), look);
}

/** Somebody's transaction holds the row of an execution that has not ended. */
function lockRow({ ledger, locks }: World, forMs: number, random: Random): void {
  const open = [...ledger.entries.values()].filter(({ status }) => !isTerminal(status));
  if (open.length > 0) locks.lock(random.pick(open).workflowId, forMs);
}

/** For a while every call takes longer than callers wait. */
function brownOut({ ledger, network, scheduler: { nowMs } }: World, forMs: number): void {
  if (network.slowUntilMs > nowMs) return;
  network.slowUntilMs = nowMs + forMs;
  ledger.brownOut = { fromMs: nowMs, untilMs: nowMs + forMs };
}
