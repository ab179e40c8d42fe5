import type { Random } from "./random.ts";

/** What can go wrong in a schedule. A seed has a kind or has it not, so that no kind hides another. */
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
 * `crash`: a process ends without warning. `restart`: it is closed, as for a new release. `skew`: clocks are wrong by up
 * to ten minutes. `slowStep`: a step outlives its lease. `partition`: a process reaches nobody for a while. `...ErrorBefore`:
 * a call fails and had no effect. `...ErrorAfter`: it fails and had its effect. `storeSlow`: a call takes longer than a lease.
 * `storeHang`: a call is never answered. `halfOpen`: for a while some of the calls of a process are never answered. `brownOut`: for
 * up to ten leases every call of the store takes longer than its caller waits. `rowLock`: somebody else's transaction holds the row of
 * one execution for a while. `failover`: the store becomes its copy of up to a second ago.
 */
export type FaultKind = (typeof faultKinds)[number];

/**
 * `liveness`: faults end at some time, then all has to come to its end. `safety`: they never end; what must never happen
 * is looked for. `faultFree`: none; then no step may be performed twice, and nothing may need to be rescued.
 */
export type SimulationMode = "liveness" | "safety" | "faultFree";

/** The faults of one schedule. */
export interface Faults {
  /** Whether a fault of this kind is to happen here and now. */
  happens(kind: FaultKind): boolean;
  /** Whether a fault of this kind can still happen. */
  isActive(kind: FaultKind): boolean;
}

/** How often each kind happens where it is active: in this share of calls, steps or messages. */
const leastShare = 0.01;
const greatestShare = 0.1;

/** Chooses about half of all kinds. Wrong clocks and slow steps do not count as faults: they must have no effect. */
export function chooseFaults(random: Random, mode: SimulationMode): FaultKind[] {
  const possible = mode === "faultFree" ? (["skew", "slowStep"] as const) : faultKinds;
  return possible.filter(() => random.chance(0.5));
}

/** @param untilMs when the last fault may happen */
export function faultsOf(kinds: readonly FaultKind[], random: Random, nowMs: () => number, untilMs: number): Faults {
  // each has a source of its own: what one kind does changes nothing of the others
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
