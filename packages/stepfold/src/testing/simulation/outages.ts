import { isTerminal } from "../../core/snapshot/snapshot.ts";
import { maxTailMs } from "./ledger.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

/** The usual time between two moments at which something may happen to the store, in milliseconds. */
const lookMs = 1_000;
/** The longest brown-out, in leases. */
const maxBrownOutLeases = 10;
/** The longest lock of a row, in leases. */
const maxLockLeases = 3;
/** The shortest and the longest time in which no server answers while the copy takes over. */
const downMs = [1_000, 3_000] as const;

/** Begins the faults that hit the store as a whole, from time to time. */
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

/** Lets another program's transaction lock the row of an execution that has not ended. */
function lockRow({ ledger, locks }: World, forMs: number, random: Random): void {
  const open = [...ledger.entries.values()].filter(({ status }) => !isTerminal(status));
  if (open.length > 0) locks.lock(random.pick(open).workflowId, forMs);
}

/** Makes every call take longer than callers wait, for a while. */
function brownOut({ ledger, network, scheduler: { nowMs } }: World, forMs: number): void {
  if (network.slowUntilMs > nowMs) return;
  network.slowUntilMs = nowMs + forMs;
  ledger.brownOut = { fromMs: nowMs, untilMs: nowMs + forMs };
}
