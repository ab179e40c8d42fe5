import { type SnapshotStore, StepfoldError } from "stepfold";
import { type LogLine, machineNow } from "./log.ts";

/** Returns the store with a log of what is sent to it and what it acknowledges. */
export function loggedStore(store: SnapshotStore, write: (line: LogLine) => void): SnapshotStore {
  const refused = (workflowId: string, action: string) => (error: unknown) => {
    write({ what: "refused", workflowId, action, code: StepfoldError.is(error) ? error.code : String(error) });
    throw error;
  };
  const send = async <T>(commit: Parameters<SnapshotStore["commit"]>[0], action: string, sent: () => Promise<T>): Promise<T> => {
    const { workflowId, commitId, expectedVersion, events, fence = null } = commit;
    write({ what: "committing", workflowId, commitId, first: expectedVersion + 1, last: expectedVersion + events.length, fence });
    const answer = await sent().catch(refused(workflowId, action));
    write({ what: "committed", workflowId, commitId });
    return answer;
  };
  return {
    ...store,
    create: (commit, options) => send(commit, "create", () => store.create(commit, options)),
    commit: (commit) => send(commit, "commit", () => store.commit(commit)),
    async claim(options) {
      const askedAt = machineNow();
      const found = await store.claim(options);
      for (const { workflowId, fence, version, expired, crashes } of found)
        write({ what: "claimed", workflowId, fence, version, expired, crashes, askedAt });
      return found;
    },
    renew: (claim) => store.renew(claim).catch(refused(claim.workflowId, "renew")),
    release: (claim, version) => store.release(claim, version).catch(refused(claim.workflowId, "release")),
  };
}
