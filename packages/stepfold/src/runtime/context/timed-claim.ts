import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Claim } from "../../ports/snapshot-store.ts";
import type { RuntimeContext } from "./runtime-context.ts";

/** A claimed execution, with the time at which its claim was asked for. */
export interface TimedClaim {
  readonly claim: Claim;
  /** As it is in the store, where this process has just written it. */
  readonly snapshot?: Snapshot;
  /** On the monotonic clock. The lease began after that, so it ends no earlier than `leaseMs` later. */
  readonly askedAtMs: number;
}

/** Claims one execution if it is due and not held: this one, or any that waits for a permit of this key. */
export async function claimOne(
  { store, environment, lease, registry: { rates } }: RuntimeContext,
  which: { readonly workflowId: string } | { readonly permit: string },
): Promise<TimedClaim | null> {
  const askedAtMs = environment.monotonicMs();
  const [claim] = await store.claim({ ...lease, rates, limit: 1, ...which });
  return claim ? { claim, askedAtMs } : null;
}
