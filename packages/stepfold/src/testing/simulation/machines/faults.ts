import type { Random } from "../random.ts";

/** The kinds of faults in a schedule. A seed enables some of the kinds only, so that no kind hides another. */
export const faultKinds = [
  "crash",
  "restart",
  "skew",
  "slowStep",
  "partition",
  "storeErrorBefore",
  "storeErrorAfter",
  "storeSlow",
  "queueErrorBefore",
  "queueErrorAfter",
  "queueDuplicate",
  "queueReorder",
  "queueDrop",
  "queueDelay",
  "storeHang",
  "halfOpen",
  "brownOut",
  "rowLock",
  "failover",
] as const;

/**
 * - `crash`: a process ends without warning.
 * - `restart`: a process is closed, as for a new release.
 * - `skew`: clocks are wrong by up to ten minutes.
 * - `slowStep`: a step takes longer than a lease, so its process has to renew the claim.
 * - `partition`: a process reaches no service for a while.
 * - `...ErrorBefore`: a call fails without an effect.
 * - `...ErrorAfter`: a call fails after it had its effect.
 * - `storeSlow`: the way of a call to the store, or of its answer, takes from half a lease to two leases.
 * - `storeHang`: a call is never answered.
 * - `halfOpen`: for a while, some of the calls of a process are never answered.
 * - `brownOut`: for one to ten leases, every call of the store takes longer than its caller waits.
 * - `rowLock`: a transaction of another program locks the row of one execution for a while.
 * - `failover`: the store becomes its copy of up to a second ago.
 */
export type FaultKind = (typeof faultKinds)[number];

/**
 * `liveness`: the faults end at some time, and then every execution must end, wait for an answer or be parked. `safety`: the faults
 * never end, and only the rules about what must never happen are checked. `faultFree`: there are no faults, so no step may be performed
 * twice and no execution may need a rescue (a claim after a lost holder, or by a late poll).
 */
export type SimulationMode = "liveness" | "safety" | "faultFree";

/** The faults of one schedule. */
export interface Faults {
  /** True if a fault of this kind must happen now. Each call decides anew. */
  happens(kind: FaultKind): boolean;
  /** True if a fault of this kind can still happen. */
  isActive(kind: FaultKind): boolean;
}

/** The range of the share of calls, steps or messages in which an active kind of fault happens. */
const leastShare = 0.01;
const greatestShare = 0.1;

/** Chooses about half of all kinds. `faultFree` has wrong clocks and slow steps too: they must have no effect, so they are no faults. */
export function chooseFaults(random: Random, mode: SimulationMode): FaultKind[] {
  const possible = mode === "faultFree" ? (["skew", "slowStep"] as const) : faultKinds;
  return possible.filter(() => random.chance(0.5));
}

/** Makes the faults of one schedule. @param untilMs when the last fault may happen */
export function faultsOf(kinds: readonly FaultKind[], random: Random, nowMs: () => number, untilMs: number): Faults {
  // Each kind has its own source of random numbers, so that one kind changes nothing for the others.
  const sources = new Map(
    faultKinds.map((kind) => {
      const own = random.fork(kind);
      return [kind, { own, share: leastShare + own.next() * (greatestShare - leastShare) }];
    }),
  );
  const active = new Set(kinds);
  const isActive = (kind: FaultKind): boolean => active.has(kind) && nowMs() < untilMs;
  const happens = (kind: FaultKind): boolean => {
    const { own, share } = sources.get(kind)!;
    return isActive(kind) && own.chance(share);
  };
  return { isActive, happens };
}
