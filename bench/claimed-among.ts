import type { Claim, Snapshot, SnapshotStore } from "stepfold";
import type { FirstCommitOptions } from "stepfold/testing";
import type { Home, Place } from "./homes.ts";
import type { Library } from "./library.ts";
import { spread } from "./measure.ts";

/** Executions among which one is due. */
export interface Crowd {
  /** How many the store creates. */
  readonly created: number;
  /** How many rows there are in the end for each of those. */
  readonly rowsOfEach: number;
  readonly options: (index: number) => FirstCommitOptions;
  /** Of this key all permits are taken. */
  readonly fullKey?: string;
  /** Of the executions that are due, one after the other. */
  readonly due: FirstCommitOptions;
}

const together = 500;
const claimsOfSlice = 10;
const dayMs = 24 * 60 * 60_000;
const yearMs = 365 * dayMs;
const lease = { owner: "bench", leaseMs: dayMs };

/** What is claimed, and loaded. */
interface Held {
  readonly claim: Claim;
  readonly snapshot: Snapshot;
}

/** A third waits for somebody, a third for a time in a year, a third has ended. */
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

/** All are due, and wait for one permit that another one has. */
const behindAFullKey = {
  created: 100_000,
  rowsOfEach: 1,
  options: () => ({ head: { permit: { key: "full", limit: 1 } } }),
  fullKey: "full",
} as const;

/** What is due beside them has no key. */
export const keylessBesideFull: Crowd = { ...behindAFullKey, due: {} };

/** What is due beside them has a key of which permits are left. */
export const keyedBesideFull: Crowd = { ...behindAFullKey, due: { head: { permit: { key: "other", limit: 10 } } } };

/** Claims of one due execution among others: gives a slice of some of them, in µs for one. */
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

/** Every version has its own columns: rows that its store wrote are copied as they are, under other ids. */
async function multiply(rowsOfEach: number, query: Home["query"], { executions, columns, numbers }: Home["names"]): Promise<void> {
  const all = (await query(columns)).map(({ name }) => String(name));
  const copied = all.filter((name) => name !== "seq" && name !== "id").join(", ");
  await query(`INSERT INTO ${executions} (id, ${copied}) SELECT id || '-' || n, ${copied} FROM ${executions}, ${numbers(rowsOfEach - 1)}`);
}

/** Creates one, claims and loads it, and ends it: how long it took to have it, in ms. */
async function claimOfOne(library: Library, store: SnapshotStore, id: string, due: FirstCommitOptions): Promise<number> {
  const { startCommit, stepCommit } = await library("./testing");
  await store.create(startCommit(id, due));
  const from = performance.now();
  const { claim, snapshot } = await loaded(store, onlyOne(await store.claim({ ...lease, limit: 1 }), id));
  const took = performance.now() - from;
  await store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
  return took;
}

/** An older build loads what it claims. */
async function loaded(store: SnapshotStore, one: Claim | Held): Promise<Held> {
  return "claim" in one ? one : { claim: one, snapshot: (await store.load(one.workflowId))! };
}

function onlyOne(found: readonly (Claim | Held)[], id?: string): Claim | Held {
  const ids = found.map((one) => ("claim" in one ? one.claim : one).workflowId);
  if (ids.length === 1 && ids[0] === (id ?? ids[0])) return found[0]!;
  throw new TypeError(`The claim of ${id ?? "one"} found ${ids.join(", ") || "nothing"}`);
}
