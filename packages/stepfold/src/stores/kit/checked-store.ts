import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { Deadlines, systemEnvironment } from "../../environment/system-environment.ts";
import type { ExecutionCounts, SeriesQuery } from "../../ports/execution-counts.ts";
import type { CountQuery, ExecutionSummary, ListQuery } from "../../ports/execution-list.ts";
import { keptKeysThrough } from "../../ports/kept-keys.ts";
import { defaultAtMost } from "../../ports/list-fallbacks.ts";
import type { ClaimOptions, SnapshotStore } from "../../ports/snapshot-store.ts";
import type { DefinitionLibrary, DefinitionQuery } from "../../ports/store-definitions.ts";
import type { WorkerBeat } from "../../ports/store-workers.ts";
import { begun } from "./begun.ts";
import { checkLabelChange, checkLabelQuery } from "./definition-library.ts";
import {
  type CheckedPrune,
  type CheckedQuery,
  type CheckedTrim,
  checkedCount,
  checkedDefinitionQuery,
  checkedIds,
  checkedPrune,
  checkedQuery,
  checkedSeries,
  checkedTrim,
} from "./lists/checked-query.ts";
import { checkedBeat } from "./live-workers.ts";
import { doneOrGivenUp } from "./no-answer.ts";

/** Options of a claim, checked and with defaults. */
export interface CheckedClaim extends ClaimOptions {
  /** A whole number of at least 0. */
  readonly overdueMs: number;
}

/** The methods that an adapter has to provide. They get checked options. */
export interface StoreMethods extends Omit<SnapshotStore, "claim" | "list" | "prune" | "trim" | "count" | "listDefinitions"> {
  claim(options: CheckedClaim): ReturnType<SnapshotStore["claim"]>;
  list(query: CheckedQuery): ReturnType<SnapshotStore["list"]>;
  /** The `limit` of the query is the number at which counting a status stops. */
  count?(query: CheckedQuery): Promise<ExecutionCounts>;
  prune(options: CheckedPrune): ReturnType<SnapshotStore["prune"]>;
  trim(options: CheckedTrim): ReturnType<SnapshotStore["trim"]>;
  listDefinitions?(query: DefinitionQuery): ReturnType<DefinitionLibrary["listDefinitions"]>;
}

/** How long `close()` waits for running calls and for a client that does not answer, so that a process can end. */
const maxCloseMs = 30_000;

/**
 * Makes a store of an adapter's methods. The store checks options before it asks its database, and rejects with nothing but
 * `StepfoldError`s. Its `close()` waits for running calls, half a minute at most; later calls are refused.
 *
 * @param errorOf turns an error of the database into one of ours: `STORE_UNAVAILABLE` if the same call may succeed later, else
 * `STORE_REJECTED`
 * @param deadlines the timers that `close()` uses; default: those of the system's clock
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
  // not an async function: with a local database each async function in a commit makes a step measurably slower
  const ask = <T>(work: () => Promise<T>): Promise<T> => {
    if (closing) return Promise.reject(new StepfoldError("STORE_UNAVAILABLE", { store: name, reason: "the store was closed" }));
    inFlight++;
    return begun(work).then(answered, failed);
  };
  const close = async (): Promise<void> => {
    // `ask` refuses new calls from here on, so the number of calls in flight only falls
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
    ...checkedRemovals(methods, ask),
    putDefinition: (hash, definition, options) => ask(() => methods.putDefinition(hash, definition, options)),
    getDefinition: (hash) => ask(() => methods.getDefinition(hash)),
    ...checkedLibrary(methods, ask),
    close() {
      closing ??= doneOrGivenUp(close(), maxCloseMs, deadlines ?? new Deadlines(systemEnvironment));
      return closing;
    },
  };
}

/** The methods that delete many executions or events, with checked options. */
function checkedRemovals(methods: StoreMethods, ask: <T>(work: () => Promise<T>) => Promise<T>): Pick<SnapshotStore, "prune" | "trim"> {
  return {
    prune: (options) => ask(async () => methods.prune(checkedPrune(options))),
    trim: (options) => ask(async () => methods.trim(checkedTrim(options))),
  };
}

/** The methods that list executions and workers, with checked options. A method that the adapter lacks is left out. */
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

/** The methods of the definition library, with checked options, and the older idempotency keys. */
function checkedLibrary(
  methods: StoreMethods,
  ask: <T>(work: () => Promise<T>) => Promise<T>,
): Partial<DefinitionLibrary> & Pick<SnapshotStore, "keptKeys"> {
  const keys = methods.keptKeys && { keptKeys: keptKeysThrough(methods.keptKeys, ask) };
  if (!methods.features.definitions) return keys ?? {};
  return {
    ...keys,
    listDefinitions: (query = {}) => ask(async () => methods.listDefinitions!(checkedDefinitionQuery(query))),
    label: (id, hash, expected) =>
      ask(async () => {
        checkLabelChange(id, hash, expected);
        return methods.label!(id, hash, expected);
      }),
    labels: (ids) =>
      ask(async () => {
        checkLabelQuery(ids);
        return methods.labels!(ids);
      }),
  };
}

/** @throws StepfoldError `OPTION_INVALID` for options that need `features.lists`, in a store without it */
function refuseLists(store: string, query: ListQuery): void {
  for (const option of ["idPrefix", "order"] as const) {
    const value = query[option];
    if (value === undefined || value === "newest") continue;
    throw new StepfoldError("OPTION_INVALID", { option, reason: `is not supported by the lists of the store "${store}"` });
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
