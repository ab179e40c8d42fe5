import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { awaitAnswer } from "../../../environment/await-answer.ts";
import type { Deadlines } from "../../../environment/system-environment.ts";
import type { SeriesQuery } from "../../../ports/execution-counts.ts";
import type { CountQuery } from "../../../ports/execution-list.ts";
import { keptKeysThrough } from "../../../ports/kept-keys.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { DefinitionQuery } from "../../../ports/store-definitions.ts";
import type { WorkerBeat } from "../../../ports/store-workers.ts";

/** The longest that a runtime waits for one answer of its store. */
const maxAnswerMs = 10_000;

/** Returns how long a runtime waits for an answer: at most half of a lease, so that one lost answer does not cost the claim. */
export function answerTimeoutMs(leaseMs: number): number {
  return Math.min(maxAnswerMs, leaseMs / 2);
}

/**
 * Returns a store whose calls never hang: a call that is not answered in time rejects with `STORE_UNAVAILABLE`, and callers that share its
 * answer can ask again. The call may still take effect: a repeated commit is recognised, and claims that come too late are given back.
 *
 * `close` has the time limit of the store itself.
 */
export function storeWithDeadlines(store: SnapshotStore, deadlines: Deadlines, timeoutMs: number): SnapshotStore {
  const reason = `there was no answer for ${timeoutMs} ms`;
  const missing = (): Error => new StepfoldError("STORE_UNAVAILABLE", { store: store.name, reason });
  const timed = <T>(work: Promise<T>, late?: (value: T) => void): Promise<T> => awaitAnswer(work, { deadlines, timeoutMs, missing, late });
  return {
    ...store,
    create: (commit, options) => timed(store.create(commit, options)),
    load: (workflowId) => timed(store.load(workflowId)),
    loadHead: (workflowId) => timed(store.loadHead(workflowId)),
    commit: (commit) => timed(store.commit(commit)),
    claim: (options) =>
      timed(store.claim(options), (claimed) => {
        for (const claim of claimed) store.release(claim, claim.version).catch(() => undefined);
      }),
    renew: (claim) => timed(store.renew(claim)),
    release: (claim, version) => timed(store.release(claim, version)),
    now: () => timed(store.now()),
    events: (workflowId, afterVersion, limit) => timed(store.events(workflowId, afterVersion, limit)),
    list: (query) => timed(store.list(query)),
    ...(store.count && { count: (query?: CountQuery, atMost?: number) => timed(store.count!(query, atMost)) }),
    ...(store.summaries && { summaries: (ids: readonly string[]) => timed(store.summaries!(ids)) }),
    ...(store.ended && { ended: (query: SeriesQuery) => timed(store.ended!(query)) }),
    ...(store.beat && { beat: (beat: WorkerBeat) => timed(store.beat!(beat)) }),
    ...(store.workers && { workers: () => timed(store.workers!()) }),
    delete: (workflowId) => timed(store.delete(workflowId)),
    prune: (options) => timed(store.prune(options)),
    trim: (options) => timed(store.trim(options)),
    putDefinition: (hash, definition, options) => timed(store.putDefinition(hash, definition, options)),
    getDefinition: (hash) => timed(store.getDefinition(hash)),
    ...(store.listDefinitions && { listDefinitions: (query?: DefinitionQuery) => timed(store.listDefinitions!(query)) }),
    ...(store.label && {
      label: (id: string, hash: string | null, expected: string | null) => timed(store.label!(id, hash, expected)),
    }),
    ...(store.labels && { labels: (ids: readonly string[]) => timed(store.labels!(ids)) }),
    ...(store.keptKeys && { keptKeys: keptKeysThrough(store.keptKeys, (work) => timed(work())) }),
    close: () => store.close(),
  };
}
