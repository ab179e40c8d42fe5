import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { Deadlines, systemEnvironment } from "../../environment/system-environment.ts";
import type { ExecutionCounts, SeriesQuery } from "../../ports/execution-counts.ts";
import { defaultAtMost } from "../../ports/list-fallbacks.ts";
import type { ClaimOptions, CountQuery, ExecutionSummary, ListQuery, SnapshotStore } from "../../ports/snapshot-store.ts";
import type { DefinitionLibrary, DefinitionQuery } from "../../ports/store-definitions.ts";
import type { WorkerBeat } from "../../ports/store-workers.ts";
import { begun } from "./begun.ts";
import { checkLabel, checkLabelled } from "./definition-library.ts";
import {
  type CheckedPrune,
  type CheckedQuery,
  checkedCount,
  checkedDefinitionQuery,
  checkedIds,
  checkedPrune,
  checkedQuery,
  checkedSeries,
} from "./lists/checked-query.ts";
import { checkedBeat } from "./live-workers.ts";
import { doneOrGivenUp } from "./no-answer.ts";

/** What to claim, with all that has a default. */
export interface CheckedClaim extends ClaimOptions {
  /** A whole number. */
  readonly overdueMs: number;
}

/** What an adapter has to do itself; the rest is the same for all. */
export interface StoreMethods extends Omit<SnapshotStore, "claim" | "list" | "prune" | "count" | "listDefinitions"> {
  claim(options: CheckedClaim): ReturnType<SnapshotStore["claim"]>;
  list(query: CheckedQuery): ReturnType<SnapshotStore["list"]>;
  /** Its limit is how many of each status are counted. */
  count?(query: CheckedQuery): Promise<ExecutionCounts>;
  prune(options: CheckedPrune): ReturnType<SnapshotStore["prune"]>;
  listDefinitions?(query: DefinitionQuery): ReturnType<DefinitionLibrary["listDefinitions"]>;
}

/** How long `close()` waits for a client that does not answer: a process has to come to its end. */
const maxCloseMs = 30_000;

/**
 * A store that checks options before it asks its database, lets `close()` wait for what is in flight, half a minute at most,
 * refuses every call after it, and rejects with nothing but `StepfoldError`s.
 *
 * @param errorOf says what went wrong in the database as one of ours: `STORE_UNAVAILABLE` if the same call may succeed later, else `STORE_REJECTED`
 * @param deadlines by which `close()` goes; default: those of the system's clock
 */
export function checkedStore(methods: StoreMethods, errorOf: (cause: unknown) => StepfoldError, deadlines?: Deadlines): SnapshotStore {
  const { name, features } = methods;
  let inFlight = 0;
  let onIdle = (): void => undefined;
  let closing: Promise<void> | null = null;
  const answered = <T>(answer: T): T => {
    if (--inFlight === 0) onIdle();
    return answer;
  };
  const failed = (cause: unknown): never => {
    throw answered(StepfoldError.is(cause) ? cause : errorOf(cause));
  };
  // not an async function: a step on a local database notices each of those that its commit goes through
  const ask = <T>(work: () => Promise<T>): Promise<T> => {
    if (closing) return Promise.reject(new StepfoldError("STORE_UNAVAILABLE", { store: name, reason: "it was closed" }));
    inFlight++;
    return begun(work).then(answered, failed);
  };
  const close = async (): Promise<void> => {
    // no call begins after it was closed
    if (inFlight > 0) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    }
    await methods.close();
  };
  return {
    name,
    features,
    create: (commit, options) =>
      ask(() => {
        if (options?.claim) checkLease(options.claim.leaseMs);
        return methods.create(commit, options);
      }),
    load: (workflowId) => ask(() => methods.load(workflowId)),
    loadHead: (workflowId) => ask(() => methods.loadHead(workflowId)),
    commit: (commit) => ask(() => methods.commit(commit)),
    claim: (options) =>
      ask(async () => {
        const wanted = checkedClaim(options);
        return wanted.limit < 1 ? [] : methods.claim(wanted);
      }),
    renew: (claim) => ask(() => methods.renew(claim)),
    release: (claim, version) => ask(() => methods.release(claim, version)),
    now: () => ask(() => methods.now()),
    events: (workflowId, afterVersion, limit) =>
      ask(async () => (limit < 1 ? [] : methods.events(workflowId, Math.max(-1, afterVersion), Math.min(limit, 2 ** 31 - 1)))),
    ...checkedLists(methods, ask),
    delete: (workflowId) => ask(() => methods.delete(workflowId)),
    prune: (options) => ask(async () => methods.prune(checkedPrune(options))),
    putDefinition: (hash, definition, options) => ask(() => methods.putDefinition(hash, definition, options)),
    getDefinition: (hash) => ask(() => methods.getDefinition(hash)),
    ...checkedLibrary(methods, ask),
    close() {
      closing ??= doneOrGivenUp(close(), maxCloseMs, deadlines ?? new Deadlines(systemEnvironment));
      return closing;
    },
  };
}

/** What finds executions and workers, with checked options. */
function checkedLists(
  methods: StoreMethods,
  ask: <T>(work: () => Promise<T>) => Promise<T>,
): Pick<SnapshotStore, "list" | "count" | "summaries" | "ended" | "beat" | "workers"> {
  const list = async (query: ListQuery): ReturnType<SnapshotStore["list"]> => {
    const wanted = checkedQuery(query);
    if (!methods.features.lists) refuseLists(methods.name, query);
    return methods.list(wanted);
  };
  const summaries = async (ids: readonly string[]): Promise<readonly ExecutionSummary[]> => {
    const wanted = checkedIds(ids);
    return wanted.length === 0 ? [] : methods.summaries!(wanted);
  };
  const count = async (query: CountQuery = {}, atMost = defaultAtMost): Promise<ExecutionCounts> =>
    methods.count!(checkedCount(query, atMost));
  return {
    list: (query = {}) => ask(() => list(query)),
    ...(methods.count && { count: (query?: CountQuery, atMost?: number) => ask(() => count(query, atMost)) }),
    ...(methods.summaries && { summaries: (ids: readonly string[]) => ask(() => summaries(ids)) }),
    ...(methods.ended && { ended: (query: SeriesQuery) => ask(async () => methods.ended!(checkedSeries(query))) }),
    ...(methods.beat && { beat: (beat: WorkerBeat) => ask(async () => methods.beat!(checkedBeat(beat))) }),
    ...(methods.workers && { workers: () => ask(() => methods.workers!()) }),
  };
}

/** What is known about definitions, with checked options. */
function checkedLibrary(methods: StoreMethods, ask: <T>(work: () => Promise<T>) => Promise<T>): Partial<DefinitionLibrary> {
  if (!methods.features.definitions) return {};
  return {
    listDefinitions: (query = {}) => ask(async () => methods.listDefinitions!(checkedDefinitionQuery(query))),
    label: (id, hash, expected) =>
      ask(async () => {
        checkLabel(id, hash, expected);
        return methods.label!(id, hash, expected);
      }),
    labels: (ids) =>
      ask(async () => {
        checkLabelled(ids);
        return methods.labels!(ids);
      }),
  };
}

/** @throws StepfoldError `OPTION_INVALID` for what a list does not take */
function refuseLists(store: string, query: ListQuery): void {
  for (const option of ["idPrefix", "order"] as const) {
    const value = query[option];
    if (value === undefined || value === "newest") continue;
    throw new StepfoldError("OPTION_INVALID", { option, reason: `is not for the lists of the store "${store}"` });
  }
}

function checkLease(leaseMs: number): void {
  if (Number.isInteger(leaseMs) && leaseMs > 0) return;
  throw new StepfoldError("OPTION_INVALID", { option: "leaseMs", reason: "must be a whole number of milliseconds, at least 1" });
}

function checkedClaim(options: ClaimOptions): CheckedClaim {
  checkLease(options.leaseMs);
  const { overdueMs = 0 } = options;
  if (Number.isFinite(overdueMs) && overdueMs >= 0) return { ...options, overdueMs: Math.ceil(overdueMs) };
  throw new StepfoldError("OPTION_INVALID", { option: "overdueMs", reason: "must be a number of milliseconds, at least 0" });
}
