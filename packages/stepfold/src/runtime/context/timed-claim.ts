import type { Snapshot, SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { defaultTaskQueue } from "../../core/values/ids/id.ts";
import type { Claim, ClaimOptions } from "../../ports/snapshot-store.ts";
import type { RuntimeContext } from "./runtime-context.ts";

/** With a queue, the store is asked only for executions that have been due for this long: the queue has missed them. */
const queueGraceMs = 500;

/** A claimed execution, with the time at which its claim was asked for. */
export interface TimedClaim {
  readonly claim: Claim;
  /** The snapshot as it is stored; present only if this process has just written it. */
  readonly snapshot?: Snapshot;
  /** When the claim was asked for, on the monotonic clock. The lease began later, so it does not end before `askedAtMs + leaseMs`. */
  readonly askedAtMs: number;
}

/** Whether this process runs executions of a task queue; undefined: the default one. */
export function takesTaskQueue({ taskQueues }: Pick<RuntimeContext, "taskQueues">, name: string = defaultTaskQueue): boolean {
  return taskQueues?.includes(name) ?? true;
}

/** The options of every claim of this process: what it takes, and what it leaves to others. */
function claimOptions({ lease, registry, taskQueues, lacking, environment }: RuntimeContext): Omit<ClaimOptions, "limit"> {
  const lacks = lacking.hashes(environment.monotonicMs());
  return { ...lease, rates: registry.rates, ...(taskQueues && { taskQueues }), ...(lacks.size > 0 && { lacks }) };
}

/** Claims at most `limit` executions that are due. `isMore`: more may be due, so the next claim need not wait. */
export async function claimSome(
  context: RuntimeContext,
  limit: number,
): Promise<{ readonly claims: readonly Claim[]; readonly isMore: boolean }> {
  let isCut = false;
  const onMore = (): void => {
    isCut = true;
  };
  const overdue = context.queue ? { overdueMs: queueGraceMs } : {};
  const claims = await context.store.claim({ ...claimOptions(context), ...overdue, limit, onMore });
  return { claims, isMore: isCut || claims.length === limit };
}

/** Claims one execution that is due and not held: this one, or any that waits for the permit of an ended one. Null if there is none. */
export async function claimOne(
  context: RuntimeContext,
  which: { readonly workflowId: string } | { readonly permitOf: Pick<SnapshotHead, "permit" | "taskQueue"> },
): Promise<TimedClaim | null> {
  const askedAtMs = context.environment.monotonicMs();
  const asked =
    "workflowId" in which ? which : { permit: which.permitOf.permit!.key, taskQueues: [which.permitOf.taskQueue ?? defaultTaskQueue] };
  const [claim] = await context.store.claim({ ...claimOptions(context), limit: 1, ...asked });
  return claim ? { claim, askedAtMs } : null;
}
