import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { aFunction, anything, aTime, checkOptions, requireStore } from "../../../core/values/check-arguments.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { SnapshotStore, StoreFeatures } from "../../../ports/snapshot-store.ts";
import { checkedStore } from "../../kit/checked-store.ts";
import { libraryBelow } from "../../kit/library-below.ts";
import { keyedLock } from "../../kit/writing/keyed-lock.ts";
import { orderedSender } from "../values/ordered-sender.ts";
import { unexpectedError } from "../values/rejected.ts";
import { reopenInTiers } from "./bring-back.ts";
import { claimFromTiers, releaseInTiers, renewInTiers } from "./claim-tiers.ts";
import { listTiers } from "./list-tiers.ts";
import { type MoveReport, moveExecutions } from "./move-executions.ts";
import { eventsFromTiers, loadFromTiers, loadHeadFromTiers } from "./read-tiers.ts";
import { deleteFromBoth, pruneBoth, trimBoth } from "./remove-executions.ts";
import { keysOfTiers } from "./tier-keys.ts";
import type { Tiers } from "./tiers.ts";
import { clonedCommit, commitToTiers, createInHot, idStateOf, withoutAlongside } from "./write-tiers.ts";

/** Options of a tiered store. */
export interface TieredStoreOptions extends Tiers {
  /**
   * An execution may move after it was not changed for this time, in milliseconds: if it has ended, or if it waits, is not claimed, and
   * does not become due within the same time again. A waiting execution also stays while it has messages to deliver, and if it has a permit
   * or a rate. The time must be longer than a lease. Default 1 day.
   */
  readonly coldAfterMs?: number | undefined;
  /** The clock for `coldAfterMs`, in epoch milliseconds. Default `Date.now`. */
  readonly now?: (() => EpochMs) | undefined;
}

/** A store with two tiers. */
export interface TieredStore extends SnapshotStore {
  /**
   * Moves executions that ended long enough ago or have waited long enough, and finishes interrupted moves. Call it regularly, from one
   * process. `limit` (default 100) is the most executions that are moved or left, in addition to the interrupted moves.
   */
  move(options?: { readonly limit?: number }): Promise<MoveReport>;
}

/**
 * A store that keeps running executions in one store, `hot`, and moves executions that have ended, or wait for a long time, to another
 * store, `cold`, which may be slower and cheaper. Nothing moves by itself: call `move`.
 *
 * Every execution begins in `hot`. A move copies its whole history to `cold`, reads the copy to check it, and then deletes the original
 * from `hot`; until then the execution lives in `hot`. An interrupted move loses nothing and doubles nothing, and the next move finishes
 * it.
 *
 * An execution that is restarted after it has moved to `cold` moves back to `hot` first; lists then show the time of this as that of its
 * creation. A waiting execution stays in `hot` if events of its earlier runs were trimmed.
 *
 * A waiting execution moves with one conditional write: an answer that comes at this moment is applied before the move, or in the cold
 * store. There the execution continues until it ends, with its timers. So `cold` must be as complete a store as `hot`, and each poll for
 * work asks `cold` too.
 *
 * `list` returns the executions in `hot`, then those in `cold`. An execution that moves between two pages may be listed twice. An id is
 * free again when the retention of deleted ids in `hot` is over and `cold` does not have the execution. `close()` closes both stores.
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
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function tieredStore(options: TieredStoreOptions): TieredStore {
  checkOptions("tieredStore", options, { hot: anything, cold: anything, coldAfterMs: aTime, now: aFunction });
  const { hot, cold, coldAfterMs = 24 * 60 * 60 * 1000, now = Date.now } = options;
  requireStore("hot", hot);
  requireStore("cold", cold);
  if (!Number.isFinite(coldAfterMs) || coldAfterMs < 0) {
    throw new StepfoldError("OPTION_INVALID", { option: "coldAfterMs", reason: "must be a number of milliseconds, at least 0" });
  }
  if (hot === cold) throw new StepfoldError("OPTION_INVALID", { option: "cold", reason: "must be another store than hot" });
  const tiers = { hot, cold };
  const keptKeys = keysOfTiers(tiers);
  // moves, deletions and `close` run one after the other, because an execution must not be copied while it is deleted
  const lock = keyedLock();
  const alone = <T>(work: () => Promise<T>): Promise<T> => lock.run([""], work);
  const { send, isWaiting, idle } = orderedSender();
  /** Runs work after all calls for the execution that are not sent yet; at once if there are none. */
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
        // a commit that is sent later, or may be sent to the cold store afterwards, is cloned, because the caller may change it meanwhile
        const own = commit.fence === undefined || isWaiting(workflowId) ? clonedCommit(commit) : withoutAlongside(commit);
        if (own.reopens) return inOrder(workflowId, () => alone(() => reopenInTiers(tiers, own)));
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
      trim: (options) => alone(() => trimBoth(tiers, options)),
      // definitions are put into the hot store; the cold store has copies
      putDefinition: (hash, definition, options) => hot.putDefinition(hash, definition, options),
      getDefinition: async (hash) => (await hot.getDefinition(hash)) ?? cold.getDefinition(hash),
      ...libraryBelow(hot),
      ...(keptKeys && { keptKeys }),
      async close() {
        await idle();
        await alone(() => Promise.all([hot.close(), cold.close()]));
      },
    },
    unexpectedError("tiered"),
  );
  return { ...store, move: async ({ limit = 100 } = {}) => alone(() => moveExecutions(tiers, { now, coldAfterMs }, checkedLimit(limit))) };
}

function checkedLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new StepfoldError("OPTION_INVALID", { option: "limit", reason: "must be a whole number, at least 1" });
}

function featuresOfTiers({ hot: { features: hot }, cold: { features: cold } }: Tiers): StoreFeatures {
  return {
    clock: hot.clock === cold.clock ? hot.clock : "caller",
    durable: hot.durable && cold.durable,
    multiProcess: hot.multiProcess && cold.multiProcess,
    // executions with a permit stay in the hot store until they end, because the hot store counts them
    ...(hot.permits && cold.permits && { permits: true }),
    ...(hot.taskQueues && cold.taskQueues && { taskQueues: true }),
    ...(hot.definitions && { definitions: true }),
    ...(hot.keys && cold.keys && { keys: true }),
  };
}
