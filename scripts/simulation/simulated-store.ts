import { StepfoldError } from "../../packages/stepfold/src/core/errors/stepfold-error.ts";
import type { Claim, SnapshotStore } from "../../packages/stepfold/src/ports/snapshot-store.ts";
import { storeOver } from "../../packages/stepfold/src/stores/kit/store-over.ts";
import { altered } from "../../packages/stepfold/src/testing/broken/broken-store.ts";
import type { StoreWorld } from "../../packages/stepfold/src/testing/simulation/scenario.ts";
import { SimulatedTable } from "./simulated-table.ts";

/** The kit's rules over a table of which others hold rows, and that fails over. */
export function plainStore(world: StoreWorld, onLost: (workflowId: string) => void = () => undefined): SnapshotStore {
  const errorOf = (cause: unknown): StepfoldError =>
    StepfoldError.is(cause) ? cause : new StepfoldError("STORE_REJECTED", { store: "simulated", reason: String(cause) }, { cause });
  return storeOver(new SimulatedTable(world, onLost), { errorOf });
}

/**
 * As `plainStore`, where a failover does less harm than the product allows today: a fence that it has lost is not given out again, and
 * what was decided on commits that it has lost is refused: a claim of such an execution holds no longer, and for a while nothing else is
 * written to it that may have been decided before. Once fences rise by random steps, the first half goes; the second goes when a commit
 * names the commit that it follows, and not its version alone.
 */
export function simulatedStore(world: StoreWorld): SnapshotStore {
  const safeFrom = new Map<string, number>();
  const claims = new Claims();
  const store = plainStore(world, (workflowId) => {
    claims.forget(workflowId);
    safeFrom.set(workflowId, world.now() + decidedAgainMs);
  });
  return claims.told(withoutLostVersions(store, safeFrom));
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

/** More claims than a schedule has. */
const maxClaims = 2 ** 20;

/** The number of each claim, which is added to its fence. They lie beside the store: no failover takes them back. */
class Claims {
  /** By execution, then by incarnation and fence. */
  readonly #numbers = new Map<string, Map<string, number>>();
  #last = 0;

  forget(workflowId: string): void {
    this.#numbers.delete(workflowId);
  }

  told(store: SnapshotStore): SnapshotStore {
    return altered(store, {
      create: async (commit, options) => {
        const claim = await store.create(commit, options);
        return claim && this.#numbered(claim, true);
      },
      commit: (commit) => {
        const { workflowId, incarnation, fence } = commit;
        return store.commit(fence === undefined ? commit : { ...commit, fence: this.#fenceOf({ workflowId, incarnation, fence }) });
      },
      claim: async (options) => (await store.claim(options)).map((claimed) => ({ ...claimed, claim: this.#numbered(claimed.claim) })),
      renew: (claim) => store.renew({ ...claim, fence: this.#fenceOf(claim) }),
      release: (claim, version) => store.release({ ...claim, fence: this.#fenceOf(claim) }, version),
    });
  }

  #numbered(claim: Claim, isRepeated = false): Claim {
    const { workflowId, incarnation, fence } = claim;
    const numbers = this.#numbers.get(workflowId) ?? new Map<string, number>();
    const name = `${incarnation} ${fence}`;
    const number = (isRepeated ? numbers.get(name) : undefined) ?? ++this.#last;
    this.#numbers.set(workflowId, numbers.set(name, number));
    return { ...claim, fence: fence * maxClaims + number };
  }

  /** The fence that the store knows; one that nobody has if the claim no longer holds. */
  #fenceOf({ workflowId, incarnation, fence }: Pick<Claim, "workflowId" | "incarnation" | "fence">): number {
    const known = Math.floor(fence / maxClaims);
    return this.#numbers.get(workflowId)?.get(`${incarnation} ${known}`) === fence % maxClaims ? known : -1;
  }
}
