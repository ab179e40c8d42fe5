import type { Claimed, SnapshotStore } from "stepfold";
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

/** Creates one, claims it and ends it: how long the claim took, in ms. */
async function claimOfOne(library: Library, store: SnapshotStore, id: string, due: FirstCommitOptions): Promise<number> {
  const { startCommit, stepCommit } = await library("./testing");
  await store.create(startCommit(id, due));
  const from = performance.now();
  const found = await store.claim({ ...lease, limit: 1 });
  const took = performance.now() - from;
  const { claim, snapshot } = onlyOne(found, id);
  await store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
  return took;
}

function onlyOne(found: readonly Claimed[], id = found[0]?.claim.workflowId): Claimed {
  if (found.length === 1 && found[0]!.claim.workflowId === id) return found[0]!;
  throw new TypeError(`The claim of ${id} found ${found.map(({ claim }) => claim.workflowId).join(", ") || "nothing"}`);
}
