import type { World } from "./world.ts";

/** How often something may happen to the store. */
const lookMs = 1_000;
const maxBrownOutLeases = 10;

/** What happens to the store as a whole, from time to time. */
export function beginOutages(world: World): void {
  const { faults, scheduler, plan } = world;
  const random = world.random.fork("outages");
  const look = (): void => {
    if (faults.happens("brownOut")) brownOut(world, random.between(plan.leaseMs, maxBrownOutLeases * plan.leaseMs));
    if (plan.mode === "safety" || scheduler.nowMs < plan.faultsUntilMs) scheduler.after(random.between(lookMs / 2, lookMs * 2), look);
  };
  scheduler.after(random.between(0, lookMs), look);
}

/** For a while every call takes longer than callers wait. */
function brownOut({ ledger, network, scheduler: { nowMs } }: World, forMs: number): void {
  if (network.slowUntilMs > nowMs) return;
  network.slowUntilMs = nowMs + forMs;
  ledger.brownOut = { fromMs: nowMs, untilMs: nowMs + forMs };
}
