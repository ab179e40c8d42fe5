import type { EpochMs } from "../../core/values/json.ts";

/** One that was let in under a key, as a store without transactions notes it before the execution itself is taken. */
export interface Holder {
  readonly id: string;
  readonly incarnation: string;
  /** Of its claim. */
  readonly fence: number;
  /** If it was not claimed until then, whoever wanted to is gone. */
  readonly until: EpochMs;
}

/** The execution of a holder, as it was seen. */
export interface SeenHolder {
  readonly incarnation: string;
  readonly fence: number;
  /** Null when nobody holds it. */
  readonly owner: string | null;
  /** Null when nobody holds it. */
  readonly leaseUntil: EpochMs | null;
  /** When it was seen. */
  readonly now: EpochMs;
}

/**
 * What has become of a holder. Once it is gone it never comes back: its fence will not be given out again.
 *
 * `lost` is one whose time is over, but which might still renew its claim, or make it: before its place is given away, that
 * has to be made impossible.
 */
export function standingOf({ incarnation, fence, until }: Holder, seen: SeenHolder | null): "held" | "lost" | "gone" {
  if (seen?.incarnation !== incarnation || seen.fence > fence) return "gone";
  if (seen.fence < fence) return until <= seen.now ? "lost" : "held";
  if (seen.owner === null) return "gone";
  return seen.leaseUntil === null || seen.leaseUntil > seen.now ? "held" : "lost";
}
