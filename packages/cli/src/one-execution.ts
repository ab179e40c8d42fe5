import { StepfoldError } from "stepfold";
import type { Store } from "./database.ts";

/** A store as a command sees it that drives one execution. */
export interface OneExecution {
  readonly store: Store;
  /** True while this process has asked for the execution twice in a row and was not given it. */
  refused(): boolean;
  /** From now on claims are given out. A commit of this process begins too. */
  begin(): void;
}

/**
 * Gives out claims on one execution only. The others in the file may need another config: driven with this one, they
 * could fail for good. And none before `begin`: a command that is refused must not have moved anything.
 */
export function oneExecution(store: Store, workflowId: string): OneExecution {
  let begun = false;
  let refusals = 0;
  let held = false;
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
    refused: () => !held && refusals >= 2,
    begin: () => {
      begun = true;
    },
    store: {
      ...store,
      async create(commit, options) {
        const claim = await store.create(commit, options);
        begun = true;
        return claim ? holding(true, claim) : claim;
      },
      async claim(options) {
        if (!begun) return [];
        const claimed = await store.claim({ ...options, workflowId });
        if (claimed.length > 0) return holding(true, claimed);
        refusals++;
        return claimed;
      },
      async commit(commit) {
        await store.commit(commit).catch(watchFence);
        begun = true;
        if (commit.release) holding(false, undefined);
      },
      renew: (claim) => store.renew(claim).catch(watchFence),
      release: (claim, version) => store.release(claim, version).then(() => holding(false, undefined)),
    },
  };
}
