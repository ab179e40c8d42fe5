import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { SnapshotStore, StoreFeatures } from "../../../ports/snapshot-store.ts";
import { checkedStore } from "../../kit/checked-store.ts";
import { libraryBelow } from "../../kit/library-below.ts";
import { keyedLock } from "../../kit/writing/keyed-lock.ts";
import { orderedSender } from "../values/ordered-sender.ts";
import { unexpectedError } from "../values/rejected.ts";
import { claimFromTiers, releaseInTiers, renewInTiers } from "./claim-tiers.ts";
import { listTiers } from "./list-tiers.ts";
import { type MoveReport, moveExecutions } from "./move-executions.ts";
import { eventsFromTiers, loadFromTiers, loadHeadFromTiers } from "./read-tiers.ts";
import { deleteFromBoth, pruneBoth } from "./remove-executions.ts";
import type { Tiers } from "./tiers.ts";
import { clonedCommit, commitToTiers, createInHot, idStateOf, withoutAlongside } from "./write-tiers.ts";

/** The stores, and when executions move from one to the other. */
export interface TieredStoreOptions extends Tiers {
  /**
   * An execution that was not changed for so long may move, in milliseconds: one that has ended, and one that waits, if
   * it is not held and not due for as long again. Longer than a lease. Default 1 day.
   */
  readonly coldAfterMs?: number;
  /** The clock that `coldAfterMs` is judged by, in epoch milliseconds. Default `Date.now`. */
  readonly now?: () => EpochMs;
}

/** A store with two tiers. */
export interface TieredStore extends SnapshotStore {
  /**
   * Moves executions that ended or have waited long enough, and finishes interrupted moves. Call it
   * now and then, from one process. `limit` is how many it moves at most (default 100).
   */
  move(options?: { readonly limit?: number }): Promise<MoveReport>;
}

/**
 * A store that keeps running executions in one store and moves those that have ended, or wait for long, to another, which
 * may be slower and cheaper. Nothing moves by itself: call `move`.
 *
 * Everything begins in `hot`. A move copies the whole history to `cold`, reads it again, and then deletes it from `hot`;
 * until then it lives in `hot`. An interrupted move loses and doubles nothing, and the next one finishes it.
 *
 * An execution that waits moves with one conditional write: an answer that comes at that moment is applied before it, or in
 * the cold store. There it goes on until it ends, with its timers: `cold` must be as complete a store as `hot`. Each poll
 * for work asks `cold` too.
 *
 * `list` gives what is hot, then what is cold. What moves between two pages may be seen twice. An id is free again
 * when the hot store has forgotten the move (its retention of deleted ids) and the cold one does not have it. `close()` closes both.
 *
 * ```ts
 * import { memoryStore } from "stepfold/stores/memory";
 * import { tieredStore } from "stepfold/stores/tiered";
 *
 * const store = tieredStore({ hot: memoryStore(), cold: memoryStore(), coldAfterMs: 60_000 });
 * console.log(await store.move()); // { moved: 0, left: [] }
 * await store.close();
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID`
 */
export function tieredStore({ hot, cold, coldAfterMs = 24 * 60 * 60 * 1000, now = Date.now }: TieredStoreOptions): TieredStore {
  if (!Number.isFinite(coldAfterMs) || coldAfterMs < 0) {
    throw new StepfoldError("OPTION_INVALID", { option: "coldAfterMs", reason: "must be a number of milliseconds, at least 0" });
  }
  if (hot === cold) throw new StepfoldError("OPTION_INVALID", { option: "cold", reason: "must be another store than hot" });
  const tiers = { hot, cold };
  // moves, deletions and the end run one after the other: what is deleted must not be copied at the same time
  const lock = keyedLock();
  const alone = <T>(work: () => Promise<T>): Promise<T> => lock.run([""], work);
  const { send, isWaiting, idle } = orderedSender();
  /** Runs after what is still to be sent for the execution: at once if there is nothing. */
  const inOrder = <T>(workflowId: string, work: () => Promise<T>): Promise<T> =>
    isWaiting(workflowId) ? send(workflowId, Promise.resolve(), work) : work();
  const store = checkedStore(
    {
      name: `tiered(${hot.name}, ${cold.name})`,
      features: featuresOfTiers(tiers),
      create(commit, options) {
        const own = clonedCommit(commit);
        return send(commit.workflowId, idStateOf(tiers, own), (idState) => createInHot(hot, idState, own, options));
      },
      load: (workflowId) => loadFromTiers(tiers, workflowId),
      loadHead: (workflowId) => loadHeadFromTiers(tiers, workflowId),
      commit(commit) {
        const { workflowId } = commit;
        // a commit that is not sent at once, or may be sent to the cold store too, must not change until then
        const own = commit.fence === undefined || isWaiting(workflowId) ? clonedCommit(commit) : withoutAlongside(commit);
        return inOrder(workflowId, () => commitToTiers(tiers, own, (prepared, work) => send(workflowId, prepared, work)));
      },
      claim: (options) => claimFromTiers(tiers, options),
      renew: (claim) => inOrder(claim.workflowId, () => renewInTiers(tiers, claim)),
      release: (claim, version) => inOrder(claim.workflowId, () => releaseInTiers(tiers, claim, version)),
      now: () => hot.now(),
      events: (workflowId, afterVersion, limit) => eventsFromTiers(tiers, workflowId, afterVersion, limit),
      list: (query) => listTiers(tiers, query),
      delete: (workflowId) => inOrder(workflowId, () => alone(() => deleteFromBoth(tiers, workflowId))),
      prune: (options) => alone(() => pruneBoth(tiers, options, now)),
      putDefinition: (hash, definition, options) => hot.putDefinition(hash, definition, options),
      getDefinition: async (hash) => (await hot.getDefinition(hash)) ?? cold.getDefinition(hash),
      // all are put into the hot store; the cold one has copies
      ...libraryBelow(hot),
      async close() {
        await idle();
        await alone(() => Promise.all([hot.close(), cold.close()]));
      },
    },
    unexpectedError("tiered"),
  );
  return {
    ...store,
    async move({ limit = 100 } = {}) {
      if (Number.isInteger(limit) && limit >= 1) return alone(() => moveExecutions(tiers, { now, coldAfterMs }, limit));
      throw new StepfoldError("OPTION_INVALID", { option: "limit", reason: "must be a whole number, at least 1" });
    },
  };
}

function featuresOfTiers({ hot: { features: hot }, cold: { features: cold } }: Tiers): StoreFeatures {
  return {
    clock: hot.clock === cold.clock ? hot.clock : "caller",
    durable: hot.durable && cold.durable,
    multiProcess: hot.multiProcess && cold.multiProcess,
    // executions with a permit stay in the hot store, which counts them, until they have ended
    ...(hot.permits && cold.permits && { permits: true }),
    ...(hot.definitions && { definitions: true }),
  };
}
