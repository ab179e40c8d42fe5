import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal, type Permit, type Snapshot } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Claimed, Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered } from "./broken-store.ts";

/** How a claim may end. */
type Ending = "release" | "commit" | "end" | "foreign end" | "lease";

/** How a store lets executions take turns. */
export interface TurnRules {
  /** What gives a place to the next; default: whatever ends a claim. */
  readonly frees?: readonly Ending[];
  readonly keyOf?: (key: string) => string;
  readonly limitOf?: (permit: Permit) => number;
  readonly renews?: boolean;
  /** Also a claim whose place others have. */
  readonly revives?: true;
  /** The one that is due the shortest comes first. */
  readonly reversed?: true;
  /** Counts, and takes a moment later. */
  readonly countsFirst?: true;
  /** Whoever waits holds up those after it, also of other keys. */
  readonly queuesAll?: true;
  readonly ignoresIds?: true;
  readonly ignoresKeys?: true;
  readonly ignoresOverdue?: true;
  readonly claimsAtCreation?: true;
}

interface Known {
  readonly id: string;
  readonly permit: Permit | undefined;
  readonly wakeAt: EpochMs;
}

interface Holder {
  readonly key: string;
  readonly fence: number;
  until: EpochMs;
}

const endings: readonly Ending[] = ["release", "commit", "end", "foreign end", "lease"];

/** A store whose executions take turns by rules of its own. */
export function takingTurns(store: SnapshotStore, rules: TurnRules): SnapshotStore {
  const { frees = endings, keyOf = (key) => key, limitOf = ({ limit }) => limit, renews = true } = rules;
  const known: Known[] = [];
  const holders = new Map<string, Holder>();
  const free = (id: string, how: Ending): void => {
    if (frees.includes(how)) holders.delete(id);
  };
  const mayTake = ({ id, permit }: Known, now: EpochMs): boolean => {
    if (!permit) return true;
    const key = keyOf(permit.key);
    let held = 0;
    for (const [other, holder] of holders) {
      const counts = !frees.includes("lease") || holder.until > now;
      if (counts && other !== id && holder.key === key) held++;
    }
    return held < limitOf(permit);
  };
  const shown = (snapshot: Snapshot): Snapshot => {
    const permit = known.find(({ id }) => id === snapshot.workflowId)?.permit;
    return permit ? { ...snapshot, permit } : snapshot;
  };
  const take = async (one: Known, options: Parameters<SnapshotStore["claim"]>[0]): Promise<Claimed | null> => {
    const { permit: _, overdueMs, ...rest } = options;
    const asked = overdueMs === undefined || rules.ignoresOverdue ? rest : { ...rest, overdueMs };
    const [claimed] = await store.claim({ ...asked, limit: 1, workflowId: one.id });
    if (!claimed) return null;
    const { fence, claimedAt, leaseMs } = claimed.claim;
    if (one.permit) holders.set(one.id, { key: keyOf(one.permit.key), fence, until: claimedAt + leaseMs });
    return { claim: claimed.claim, snapshot: shown(claimed.snapshot) };
  };
  return altered(store, {
    async create(commit, options) {
      const { permit } = commit.head;
      if (!known.some(({ id }) => id === commit.workflowId)) known.push({ id: commit.workflowId, permit, wakeAt: commit.wakeAt ?? 0 });
      const claim = await store.create(permit ? disguised(commit) : commit, options);
      if (!permit || !options?.claim || !rules.claimsAtCreation) return claim;
      return (await take(known.at(-1)!, { ...options.claim, limit: 1 }))?.claim ?? null;
    },
    load: async (id) => {
      const snapshot = await store.load(id);
      return snapshot && shown(snapshot);
    },
    async claim(options) {
      const now = await nowOf(store);
      const { workflowId, permit, limit } = options;
      const order = known.toSorted((a, b) => (rules.reversed ? b.wakeAt - a.wakeAt : a.wakeAt - b.wakeAt));
      const found: Claimed[] = [];
      const chosen: Known[] = [];
      for (const one of order) {
        if (found.length + chosen.length >= limit) break;
        if (workflowId !== undefined && one.id !== workflowId) continue;
        if (permit !== undefined && !rules.ignoresKeys && one.permit?.key !== permit) continue;
        if (!mayTake(one, now) && !(rules.ignoresIds && workflowId !== undefined)) {
          if (rules.queuesAll && !holders.has(one.id)) break;
          continue;
        }
        if (rules.countsFirst) chosen.push(one);
        else found.push(...[(await take(one, options)) ?? []].flat());
      }
      for (const one of chosen) found.push(...[(await take(one, options)) ?? []].flat());
      return found;
    },
    async commit(commit) {
      await store.commit(commit);
      const ended = isTerminal(commit.head.status);
      if (ended) free(commit.workflowId, commit.fence === undefined ? "foreign end" : "end");
      else if (commit.release) free(commit.workflowId, "commit");
    },
    async renew(claim) {
      const holder = holders.get(claim.workflowId);
      const one = known.find(({ id }) => id === claim.workflowId);
      if (holder && one && !rules.revives) {
        const now = await nowOf(store);
        if (holder.until <= now && !mayTake(one, now)) throw new StepfoldError("FENCE_LOST", { workflowId: claim.workflowId });
      }
      const renewed = await store.renew(claim);
      if (holder && renews) holder.until = renewed.storeNow + claim.leaseMs;
      return renewed;
    },
    async release(claim, version) {
      await store.release(claim, version);
      free(claim.workflowId, "release");
    },
  });
}

/** So that the store underneath lets everybody in. */
function disguised(commit: Commit): Commit {
  return { ...commit, head: { ...commit.head, permit: { key: `of ${commit.workflowId}`, limit: 10_000 } } };
}

let clocks = 0;

async function nowOf(store: SnapshotStore): Promise<EpochMs> {
  const workflowId = `clock-of-turns-${++clocks}`;
  const definition = { id: "clock", hash: "clock" };
  const at = { version: 0, at: 1 };
  const head = { schema: 1 as const, workflowId, definition, status: "active" as const, currentNodeId: null, activePaths: [], version: 0 };
  const rest = { metadata: {}, steps: 0, sizeBytes: 0, incarnation: workflowId };
  const events = [{ type: "started" as const, ...at, workflowId, definition, nodeId: "x", metadata: {}, incarnation: workflowId }];
  const commit: Commit = {
    workflowId,
    incarnation: workflowId,
    expectedVersion: -1,
    commitId: workflowId,
    head: { ...head, ...rest },
    events,
    wakeAt: null,
  };
  const claim = (await store.create(commit, { claim: { owner: "clock", leaseMs: 1 } })) as Claim;
  return claim.claimedAt;
}
