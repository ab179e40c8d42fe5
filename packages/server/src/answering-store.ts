import { type Environment, type SnapshotStore, StepfoldError } from "stepfold";

/** The longest that the server waits for one answer of a store. */
const maxAnswerMs = 10_000;

/**
 * Returns a store whose reads never hang: one that is not answered in time rejects with `STORE_UNAVAILABLE`. Those who share a read, such as
 * all who look at one execution, would otherwise wait for a lost answer for ever. Runtimes do the same with their store.
 */
export function answeringStore(store: SnapshotStore, environment: Environment): SnapshotStore {
  const reason = `there was no answer for ${maxAnswerMs} ms`;
  const timed = <T>(work: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const missing = (): void => reject(new StepfoldError("STORE_UNAVAILABLE", { store: store.name, reason }));
      const stop = environment.after(maxAnswerMs, missing, { background: true });
      work.then(resolve, reject).finally(stop);
    });
  return {
    ...store,
    load: (workflowId) => timed(store.load(workflowId)),
    loadHead: (workflowId) => timed(store.loadHead(workflowId)),
    events: (workflowId, afterVersion, limit) => timed(store.events(workflowId, afterVersion, limit)),
    getDefinition: (hash) => timed(store.getDefinition(hash)),
    now: () => timed(store.now()),
  };
}
