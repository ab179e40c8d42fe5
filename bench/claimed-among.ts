import type { Claim, Snapshot, SnapshotStore } from "stepfold";
import type { FirstCommitOptions } from "stepfold/testing";
import type { Home, Place } from "./homes.ts";
import type { Library } from "./library.ts";
import { spread } from "./measure.ts";

/** Executions among which one is due. */
export interface Crowd {
  /** The number of executions that the store creates. */
  readonly created: number;
  /** The number of rows in the end for each created execution: the row itself and its copies. */
  readonly rowsOfEach: number;
  /** The first commit of the created execution with this index. */
  readonly options: (index: number) => FirstCommitOptions;
  /** The concurrency key whose only permit is held during the measurement. */
  readonly fullKey?: string;
  /** The first commit of the due execution; one is created before each measured claim. */
  readonly due: FirstCommitOptions;
}

/** How many executions are created at the same time, and how many claims one slice measures. */
const together = 500;
const claimsOfSlice = 10;
const dayMs = 24 * 60 * 60_000;
const yearMs = 365 * dayMs;
const lease = { owner: "bench", leaseMs: dayMs };

/** A claim with the loaded snapshot, as `claim` of the present library returns it. */
interface Held {
  readonly claim: Claim;
  readonly snapshot: Snapshot;
}

/** A third of the executions has ended, a third waits for a timer in a year, and a third waits without a timer. */
export const aMillionOthers: Crowd = {
  created: 1_000,
  rowsOfEach: 1_000,
  options: (index) => {
    const thirds: readonly FirstCommitOptions[] = [
      { status: "completed" },
      { status: "paused", wakeAt: Date.now() + yearMs + index },
      { status: "paused" },
    ];
    return thirds[index % 3]!;
  },
  due: {},
};

/** All executions are due, but they need the only permit of a key, and one of them holds it. */
const behindAFullKey = {
  created: 100_000,
  rowsOfEach: 1,
  options: () => ({ head: { permit: { key: "full", limit: 1 } } }),
  fullKey: "full",
} as const;

/** The due execution next to them has no concurrency key. */
export const keylessBesideFull: Crowd = { ...behindAFullKey, due: {} };

/** The due execution next to them has a concurrency key with free permits. */
export const keyedBesideFull: Crowd = { ...behindAFullKey, due: { head: { permit: { key: "other", limit: 10 } } } };

/**
 * Creates a crowd, and returns a function that measures claims of one due execution among it: it makes some claims and returns the median
 * of claim and load together, in µs.
 */
export async function claimedAmong({ library }: Place, home: Home, crowd: Crowd): Promise<() => Promise<number>> {
  await gather(library, home, crowd);
  let made = 0;
  return async () => {
    const took: number[] = [];
    for (let i = 0; i < claimsOfSlice; i++) took.push(await claimOfOne(library, home.store, `due-${made++}`, crowd.due));
    return spread(took).median * 1000;
  };
}

async function gather(library: Library, { store, query, names }: Home, { created, rowsOfEach, options, fullKey }: Crowd): Promise<void> {
  const { startCommit } = await library("./testing");
  for (let first = 0; first < created; first += together) {
    const some = Array.from({ length: Math.min(together, created - first) }, (_, index) => first + index);
    await Promise.all(some.map((index) => store.create(startCommit(`other-${index}`, options(index)))));
  }
  if (fullKey !== undefined) onlyOne(await store.claim({ ...lease, permit: fullKey, limit: 1 }));
  if (rowsOfEach > 1) await multiply(rowsOfEach, query, names);
  for (const statement of names.settle) await query(statement);
}

/**
 * Copies each row that the store wrote, under new ids. The columns are read from the database, because they differ between versions of
 * the library.
 */
async function multiply(rowsOfEach: number, query: Home["query"], { executions, columns, numbers }: Home["names"]): Promise<void> {
  const all = (await query(columns)).map(({ name }) => String(name));
  const copied = all.filter((name) => name !== "seq" && name !== "id").join(", ");
  await query(`INSERT INTO ${executions} (id, ${copied}) SELECT id || '-' || n, ${copied} FROM ${executions}, ${numbers(rowsOfEach - 1)}`);
}

/** Creates a due execution, claims and loads it, and ends it. Returns how long claim and load took together, in ms. */
async function claimOfOne(library: Library, store: SnapshotStore, id: string, due: FirstCommitOptions): Promise<number> {
  const { startCommit, stepCommit } = await library("./testing");
  await store.create(startCommit(id, due));
  const from = performance.now();
  const { claim, snapshot } = await loaded(store, onlyOne(await store.claim({ ...lease, limit: 1 }), id));
  const took = performance.now() - from;
  await store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
  return took;
}

/** Returns the claim with its snapshot. An older build returns the claim alone, so its snapshot is loaded here. */
async function loaded(store: SnapshotStore, one: Claim | Held): Promise<Held> {
  return "claim" in one ? one : { claim: one, snapshot: (await store.load(one.workflowId))! };
}

/** Returns the only claim that was found, or throws if there is not exactly one or if it belongs to another execution. */
function onlyOne(found: readonly (Claim | Held)[], id?: string): Claim | Held {
  const ids = found.map((one) => ("claim" in one ? one.claim : one).workflowId);
  if (ids.length === 1 && ids[0] === (id ?? ids[0])) return found[0]!;
  throw new TypeError(`The claim of ${id ?? "one"} found ${ids.join(", ") || "nothing"}`);
}
