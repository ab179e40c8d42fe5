import { StepfoldError } from "../../packages/stepfold/src/core/errors/stepfold-error.ts";
import type { SnapshotStore } from "../../packages/stepfold/src/ports/snapshot-store.ts";
import { storeOver } from "../../packages/stepfold/src/stores/kit/store-over.ts";
import { altered } from "../../packages/stepfold/src/testing/broken/broken-store.ts";
import type { StoreWorld } from "../../packages/stepfold/src/testing/simulation/scenario.ts";
import { SimulatedTable } from "./simulated-table.ts";

/** The kit's rules over a table of which others hold rows, and that fails over. */
function plainStore(world: StoreWorld, onLost: (workflowId: string) => void): SnapshotStore {
  const errorOf = (cause: unknown): StepfoldError =>
    StepfoldError.is(cause) ? cause : new StepfoldError("STORE_REJECTED", { store: "simulated", reason: String(cause) }, { cause });
  return storeOver(new SimulatedTable(world, onLost), { errorOf });
}

/**
 * As `plainStore`, where a failover does less harm than a store allows (docs/stores, "When a database loses its latest commits"): a commit of
 * somebody without a claim says which version it follows, and not which commit. If a failover has lost that commit, and others have brought the
 * execution to the same version since, the store takes what was decided on something else. Here it is refused for a while, so that the schedules
 * with failovers show all other mistakes. A store that compares the commit as well needs a column for it in every database.
 */
export function simulatedStore(world: StoreWorld): SnapshotStore {
  const safeFrom = new Map<string, number>();
  const store = plainStore(world, (workflowId) => safeFrom.set(workflowId, world.now() + decidedAgainMs));
  return withoutLostVersions(store, safeFrom);
}

/** So long after a failover nobody knows what was lost: longer than it takes, and than callers wait before they ask again. */
const decidedAgainMs = 6_000;

/** Refuses commits to an execution that were decided before a time, so that they are decided again; not those that were made before. */
function withoutLostVersions(store: SnapshotStore, safeFrom: ReadonlyMap<string, number>): SnapshotStore {
  return altered(store, {
    async commit(commit) {
      const { workflowId, expectedVersion: expected, commitId, events } = commit;
      if (commit.fence === undefined && events[0]!.at < (safeFrom.get(workflowId) ?? 0)) {
        const [made] = await store.events(workflowId, expected, 1);
        if (made?.commitId !== commitId) throw new StepfoldError("VERSION_CONFLICT", { workflowId, expected, actual: expected + 1 });
      }
      await store.commit(commit);
    },
  });
}
