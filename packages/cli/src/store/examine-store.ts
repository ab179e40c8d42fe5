import { randomUUID } from "node:crypto";
import type { Site } from "stepfold/stores/from-url";
import { type ContractCase, isClaimed, type Need, type StoreBench, snapshotStoreContract } from "stepfold/testing";

/** The results of trying the promises of the contract on a store. */
export interface Examination {
  readonly passed: number;
  readonly failed: readonly { readonly name: string; readonly message: string }[];
  /** The number of promises that the store does not make, or that are not tried on a user's database. */
  readonly notClaimed: number;
  /** The subjects of the promises that were not tried. */
  readonly untried: readonly string[];
}

/** The result of one promise: passed, not tried (with the subject), or failed (with its name and the message). */
type Verdict = "passed" | { readonly untried: string } | { readonly name: string; readonly message: string };

/** Why a promise was not tried, by what it needs. */
const words: Readonly<Record<Need, string>> = {
  durable: "durability",
  multiProcess: "several processes",
  maxValueBytes: "a largest value",
  lists: "it has no counts",
  permits: "taking turns",
  taskQueues: "task queues",
  definitions: "lists of definitions",
  keys: "older idempotency keys",
  damage: "damaged data",
  cut: "cut connections",
};

/** How many promises the contract has. */
export const promises: number = snapshotStoreContract.length;

/** The prefix of the names of the spaces. */
export const spacePrefix = "stepfold_doctor_";

/** The number of cases that run at the same time. Most of the time, they wait for leases to end. */
const atOnce = 8;
/** How long stores keep idempotency keys in these cases. */
const retentionMs = 1_000;

/** Tries every promise of the contract on a database, each in a space of its own that is deleted afterwards. */
export async function examine(site: Site): Promise<Examination> {
  const waiting = [...snapshotStoreContract];
  const verdicts: Verdict[] = [];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) verdicts.push(await tryCase(site, next));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const untried = verdicts.flatMap((verdict) => (typeof verdict === "object" && "untried" in verdict ? verdict.untried : []));
  return {
    passed: verdicts.filter((verdict) => verdict === "passed").length,
    failed: verdicts.filter((verdict) => isFailure(verdict)),
    notClaimed: untried.length,
    untried: [...new Set(untried)].sort(),
  };
}

function isFailure(verdict: Verdict): verdict is { readonly name: string; readonly message: string } {
  return typeof verdict === "object" && "message" in verdict;
}

async function tryCase(site: Site, contractCase: ContractCase): Promise<Verdict> {
  const space = `${spacePrefix}${randomUUID().replaceAll("-", "").slice(0, 16)}`;
  const verdict = await tryIn(space, site, contractCase);
  try {
    await site.drop(space);
    return verdict;
  } catch (error) {
    const message = `${space} could not be deleted: ${error instanceof Error ? error.message : String(error)}`;
    return isFailure(verdict) ? verdict : { name: contractCase.name, message };
  }
}

async function tryIn(space: string, site: Site, contractCase: ContractCase): Promise<Verdict> {
  const options = { migrate: true, idempotencyRetentionMs: retentionMs };
  try {
    const store = await site.open(space, options);
    const bench: StoreBench = {
      store,
      retentionMs,
      open: () => (store.features.multiProcess ? site.open(space, options) : Promise.resolve(store)),
      advance: (durationMs) => new Promise((resolve) => setTimeout(resolve, durationMs)),
    };
    try {
      if (!isClaimed(contractCase, bench)) return { untried: words[contractCase.needs!] };
      await contractCase.run(bench);
      return "passed";
    } finally {
      await store.close();
    }
  } catch (error) {
    return { name: contractCase.name, message: error instanceof Error ? error.message : String(error) };
  }
}
