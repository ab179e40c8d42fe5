import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Claim } from "../../ports/snapshot-store.ts";
import type { RuntimeContext } from "./runtime-context.ts";

/** A claimed execution, with the time at which its claim was asked for. */
export interface TimedClaim {
  readonly claim: Claim;
  /** The snapshot as it is stored; present only if this process has just written it. */
  readonly snapshot?: Snapshot;
  /** When the claim was asked for, on the monotonic clock. The lease began later, so it does not end before `askedAtMs + leaseMs`. */
  readonly askedAtMs: number;
}

/** Claims one execution that is due and not held: this one, or any that waits for a permit of this key. Null if there is none. */
export async function claimOne(
  { store, environment, lease, registry: { rates } }: RuntimeContext,
  which: { readonly workflowId: string } | { readonly permit: string },
): Promise<TimedClaim | null> {
  const askedAtMs = environment.monotonicMs();
  const [claim] = await store.claim({ ...lease, rates, limit: 1, ...which });
  return claim ? { claim, askedAtMs } : null;
}
