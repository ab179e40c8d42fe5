import { type Snapshot, StepfoldError, waits } from "stepfold";
import type { Store } from "./database.ts";

/** A store that gives claims only on one execution and on the executions that belong to it. */
export interface OneExecution {
  readonly store: Store;
  /** True if this process asked for the execution twice in a row and did not get it. */
  couldNotClaim(): boolean;
  /** Allows claims from now on. A commit of this process does the same. */
  begin(): void;
}

/**
 * Wraps a store so that it gives claims only on one execution and on its family: the execution that started it, detached executions that
 * it waits for or that this process starts for it, and in turn the family of each of these. Other executions of the store may need another
 * config: run with this one, they could fail for good. The store gives no claims before `begin`, because a command that is refused must not
 * have run anything.
 */
export function oneExecution(store: Store, workflowId: string): OneExecution {
  let begun = false;
  let refusals = 0;
  let held = false;
  // the ids of the executions on which claims are given
  const family = new Set([workflowId]);
  const meet = (snapshot: Snapshot | null): void => {
    if (!snapshot || !family.has(snapshot.workflowId)) return;
    if (snapshot.parent) family.add(snapshot.parent.workflowId);
    for (const wait of waits(snapshot)) if (wait.workflowId !== undefined) family.add(wait.workflowId);
  };
  const holding = <T>(now: boolean, result: T): T => {
    held = now;
    refusals = 0;
    return result;
  };
  const watchFence = (error: unknown): never => {
    if (StepfoldError.is(error, "FENCE_LOST")) holding(false, null);
    throw error;
  };
  return {
    couldNotClaim: () => !held && refusals >= 2,
    begin: () => {
      begun = true;
    },
    store: {
      ...store,
      async create(commit, options) {
        const claim = await store.create(commit, options);
        begun = true;
        const { parent } = commit.head;
        if (parent && family.has(parent.workflowId)) family.add(commit.workflowId);
        return claim && commit.workflowId === workflowId ? holding(true, claim) : claim;
      },
      async load(id) {
        const snapshot = await store.load(id);
        meet(snapshot);
        return snapshot;
      },
      async claim(options) {
        if (!begun) return [];
        const wanted = options.workflowId === undefined ? [...family] : [options.workflowId].filter((id) => family.has(id));
        const all = await Promise.all(wanted.map((id) => store.claim({ ...options, workflowId: id })));
        const claimed = all.flat();
        if (claimed.some((claim) => claim.workflowId === workflowId)) holding(true, null);
        else if (wanted.includes(workflowId)) refusals++;
        return claimed;
      },
      async commit(commit) {
        await store.commit(commit).catch(watchFence);
        begun = true;
        if (commit.release && commit.workflowId === workflowId) holding(false, undefined);
      },
      renew: (claim) => store.renew(claim).catch(watchFence),
      release: (claim, version) =>
        store.release(claim, version).then(() => (claim.workflowId === workflowId ? holding(false, undefined) : undefined)),
    },
  };
}
