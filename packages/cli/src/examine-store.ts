import { randomUUID } from "node:crypto";
import type { Site } from "stepfold/stores/from-url";
import { type ContractCase, isClaimed, type StoreBench, snapshotStoreContract } from "stepfold/testing";

/** What became of a store's promises. */
export interface Examination {
  readonly passed: number;
  readonly failed: readonly { readonly name: string; readonly message: string }[];
  readonly notClaimed: number;
}

type Verdict = "passed" | "notClaimed" | { readonly name: string; readonly message: string };

/** Cases wait for leases to end most of the time. */
const atOnce = 8;
const retentionMs = 1_000;

/** Tries every promise of the contract on a database, each in a space of its own that is deleted afterwards. */
export async function examine(site: Site): Promise<Examination> {
  const waiting = [...snapshotStoreContract];
  const verdicts: Verdict[] = [];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) verdicts.push(await tryCase(site, next));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return {
    passed: verdicts.filter((verdict) => verdict === "passed").length,
    failed: verdicts.filter((verdict) => typeof verdict === "object"),
    notClaimed: verdicts.filter((verdict) => verdict === "notClaimed").length,
  };
}

async function tryCase(site: Site, contractCase: ContractCase): Promise<Verdict> {
  const space = `stepfold_doctor_${randomUUID().replaceAll("-", "").slice(0, 16)}`;
  const verdict = await tryIn(space, site, contractCase);
  try {
    await site.drop(space);
    return verdict;
  } catch (error) {
    const message = `${space} could not be deleted: ${error instanceof Error ? error.message : String(error)}`;
    return typeof verdict === "object" ? verdict : { name: contractCase.name, message };
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
      if (!isClaimed(contractCase, bench)) return "notClaimed";
      await contractCase.run(bench);
      return "passed";
    } finally {
      await store.close();
    }
  } catch (error) {
    return { name: contractCase.name, message: error instanceof Error ? error.message : String(error) };
  }
}
