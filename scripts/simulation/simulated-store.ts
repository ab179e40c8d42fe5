import { StepfoldError } from "../../packages/stepfold/src/core/errors/stepfold-error.ts";
import type { SnapshotStore } from "../../packages/stepfold/src/ports/snapshot-store.ts";
import { storeOver } from "../../packages/stepfold/src/stores/kit/store-over.ts";
import { altered } from "../../packages/stepfold/src/testing/broken/broken-store.ts";
import type { StoreWorld } from "../../packages/stepfold/src/testing/simulation/scenario.ts";
import { SimulatedTable } from "./simulated-table.ts";

/** Returns a store with the kit's rules over a table whose rows other transactions can lock, and which fails over. */
function plainStore(world: StoreWorld, onLost: (workflowId: string) => void): SnapshotStore {
  const errorOf = (cause: unknown): StepfoldError =>
    StepfoldError.is(cause) ? cause : new StepfoldError("STORE_REJECTED", { store: "simulated", reason: String(cause) }, { cause });
  return storeOver(new SimulatedTable(world, onLost), { errorOf });
}

/**
 * Returns a store like `plainStore`, in which a failover does less harm than a store allows (docs/stores, "When a database loses its
 * latest commits").
 *
 * A commit names the version that it follows, but not the commit of that version. If a failover has lost that commit and other processes
 * have brought the execution to the same version since, a store accepts a commit that was decided on another state: one without a claim, or
 * with a claim that was not lost. Here such commits are refused (those without a claim for a while), so that schedules with failovers show all
 * other mistakes. To compare the commit as well, every database would need a column for it.
 */
export function simulatedStore(world: StoreWorld): SnapshotStore {
  const lostAt = new Map<string, number>();
  const store = plainStore(world, (workflowId) => lostAt.set(workflowId, world.now()));
  return withoutLostVersions(store, lostAt);
}

/**
 * The time after a failover in which processes do not know what was lost. It is longer than the failover takes, and than callers wait
 * before they try again.
 */
const decidedAgainMs = 6_000;

/**
 * Refuses commits that were decided before what was lost at the given time, so that they are decided again. Commits that are already stored are
 * not refused.
 */
function withoutLostVersions(store: SnapshotStore, lostAt: ReadonlyMap<string, number>): SnapshotStore {
  return altered(store, {
    async commit(commit) {
      const { workflowId, expectedVersion: expected, commitId, events } = commit;
      const safeFrom = (lostAt.get(workflowId) ?? Number.NEGATIVE_INFINITY) + (commit.fence === undefined ? decidedAgainMs : 0);
      if (events[0]!.at < safeFrom) {
        const [made] = await store.events(workflowId, expected, 1);
        if (made?.commitId !== commitId) throw new StepfoldError("VERSION_CONFLICT", { workflowId, expected, actual: expected + 1 });
      }
      await store.commit(commit);
    },
  });
}
