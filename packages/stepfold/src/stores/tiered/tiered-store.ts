import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal, type Snapshot } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Commit, Lease, PruneOptions, PruneReport, SnapshotStore } from "../../ports/snapshot-store.ts";
import { type CheckedPrune, checkedStore } from "../record/checked-store.ts";
import { inOrder } from "../values/in-order.ts";
import type { Tiers } from "./copy-execution.ts";
import { firstRow } from "./history.ts";
import { listTiers } from "./list-tiers.ts";
import { deleteFromBoth, type MoveReport, moveExecutions } from "./move-executions.ts";
import { unmarked } from "./moved-copy.ts";

/** The stores, and when executions move from one to the other. */
export interface TieredStoreOptions extends Tiers {
  /** An execution that ended and was not changed for so long may move, in milliseconds. Default 1 day. */
  readonly coldAfterMs?: number;
  /** The clock that `coldAfterMs` is judged by, in epoch milliseconds. Default `Date.now`. */
  readonly now?: () => EpochMs;
}

/** A store with two tiers. */
export interface TieredStore extends SnapshotStore {
  /**
   * Moves executions that ended long enough ago, and goes on with what an earlier move left half done. Call it now and
   * then, from one process: `limit` is the most it takes on (default 100).
   */
  move(options?: { readonly limit?: number }): Promise<MoveReport>;
}

/**
 * A store that keeps running executions in one store and moves ended ones to another, which may be slower and cheaper.
 * Nothing moves by itself: somebody calls `move`.
 *
 * Everything is written to `hot`. A move copies the whole history to `cold`, reads it again, and then deletes it from
 * `hot`; until then it counts as hot. A move that breaks off loses and doubles nothing, and the next one finishes it.
 * Executions that wait, however long, stay in `hot`: no store forgets an open execution.
 *
 * `list` gives what is hot, then what is cold. What moves while somebody turns pages may be seen twice. An id is free again
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
  const alone = oneAtATime();
  const { send, waits, idle } = inOrder();
  /** At once, unless something of the execution is still held up. */
  const pass = <T>(workflowId: string, work: () => Promise<T>): Promise<T> =>
    waits(workflowId) ? send(workflowId, Promise.resolve(), work) : work();
  const store = checkedStore(
    {
      name: `tiered(${hot.name}, ${cold.name})`,
      features: {
        clock: hot.features.clock,
        durable: hot.features.durable && cold.features.durable,
        multiProcess: hot.features.multiProcess && cold.features.multiProcess,
      },
      create(commit, options) {
        const copied = structuredClone(commit);
        return send(commit.workflowId, homeOf(tiers, copied), (home) => create(hot, home, copied, options));
      },
      load: (workflowId) => load(tiers, workflowId),
      commit(commit) {
        const copied = waits(commit.workflowId) ? structuredClone(commit) : commit;
        return pass(commit.workflowId, () => commitTo(tiers, copied));
      },
      claim: (options) => hot.claim(options),
      renew: (claim) => pass(claim.workflowId, () => hot.renew(claim)),
      release: (claim, version) => pass(claim.workflowId, () => hot.release(claim, version)),
      async events(workflowId, afterVersion, limit) {
        const rows = await hot.events(workflowId, afterVersion, limit);
        return rows.length > 0 ? rows : cold.events(workflowId, afterVersion, limit);
      },
      list: (query) => listTiers(tiers, query),
      delete: (workflowId) => pass(workflowId, () => alone(() => deleteFromBoth(tiers, workflowId))),
      prune: (options) => alone(() => pruneBoth(tiers, options)),
      putDefinition: (hash, definition) => hot.putDefinition(hash, definition),
      getDefinition: async (hash) => (await hot.getDefinition(hash)) ?? cold.getDefinition(hash),
      async close() {
        await idle();
        await alone(() => Promise.all([hot.close(), cold.close()]));
      },
    },
    (cause) => {
      const reason = cause instanceof Error ? cause.message : "an unknown error";
      return new StepfoldError("STORE_REJECTED", { store: "tiered", reason }, { cause });
    },
  );
  return {
    ...store,
    async move({ limit = 100 } = {}) {
      if (Number.isInteger(limit) && limit >= 1) return alone(() => moveExecutions(tiers, now() - coldAfterMs + 1, limit));
      throw new StepfoldError("OPTION_INVALID", { option: "limit", reason: "must be a whole number, at least 1" });
    },
  };
}

/** Moves, deletions and the end, one after the other: what is deleted must not be on its way. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}

type Home = "hot" | "moved, made by this commit" | "moved";

/** Where the id of a new execution is taken. The hot store may have forgotten it; whatever moves after this leaves it taken there. */
async function homeOf({ hot, cold }: Tiers, { workflowId, commitId }: Commit): Promise<Home> {
  const moved = await firstRow(cold, workflowId);
  if (!moved || (await firstRow(hot, workflowId))) return "hot";
  return moved.commitId === commitId ? "moved, made by this commit" : "moved";
}

async function create(
  hot: SnapshotStore,
  home: Home,
  commit: Commit,
  options: { readonly claim?: Lease } | undefined,
): Promise<Claim | null> {
  if (home === "hot") return hot.create(commit, options);
  if (home === "moved, made by this commit") return null;
  throw new StepfoldError("WORKFLOW_EXISTS", { workflowId: commit.workflowId });
}

async function load({ hot, cold }: Tiers, workflowId: string): Promise<Snapshot | null> {
  const snapshot = await hot.load(workflowId);
  if (snapshot) return snapshot;
  const moved = await cold.load(workflowId);
  // a copy that broke off, of what was deleted since
  return moved && isTerminal(moved.status) ? unmarked(moved) : null;
}

/** One that was moved has ended: the cold store says so, or acknowledges what was applied before. */
async function commitTo({ hot, cold }: Tiers, commit: Commit): Promise<void> {
  try {
    await hot.commit(commit);
  } catch (error) {
    if (!StepfoldError.is(error, "VERSION_CONFLICT") || error.details.actual !== null) throw error;
    const moved = await cold.load(commit.workflowId);
    if (!moved || moved.incarnation !== commit.incarnation || !isTerminal(moved.status)) throw error;
    await cold.commit(commit);
  }
}

/** What is cold ended first. */
async function pruneBoth({ hot, cold }: Tiers, { definitionId, limit, ...rest }: CheckedPrune): Promise<PruneReport> {
  const asked: PruneOptions = { ...rest, ...(definitionId !== null && { definitionId }) };
  const first = await cold.prune({ ...asked, limit });
  if (first.executions >= limit) return first;
  const second = await hot.prune({ ...asked, limit: limit - first.executions });
  return { executions: first.executions + second.executions, events: first.events + second.events };
}
