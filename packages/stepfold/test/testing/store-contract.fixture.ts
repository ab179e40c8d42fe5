import { describe, it } from "vitest";
import { effort } from "../../../../scripts/test/effort.ts";
import type { StoreFeatures } from "../../src/ports/snapshot-store.ts";
import { type ContractCase, isClaimed, type StoreBench, snapshotStoreContract } from "../../src/testing/index.ts";
import { meetsNoServer } from "./no-server.fixture.ts";

/** The result of a case that has passed or was left out. */
export interface RanCase {
  readonly features: StoreFeatures;
  /** False: the case was left out, because the store or its bench does not claim what the case needs. */
  readonly isClaimed: boolean;
}

/** A store that the contract runs on. */
interface Subject {
  /** The place of the data, as the title of the tests names it, for example `a file` or `Redis 7.0.15 through ioredis`. */
  readonly over?: string;
  /** The URL of the server. Null if the server does not answer: the tests are skipped with a message, or fail with REQUIRE_SERVICES=1. */
  readonly url?: string | null;
  /** The command or setting that provides the missing server. */
  readonly missing?: string;
  /** Runs a case on a new, empty store with a schema, database or prefix of its own. The index is that of the case. */
  readonly run: (contractCase: ContractCase, index: number) => Promise<RanCase>;
  /** True: the same store through another client or over another store. It is tested only in `npm run contract` and `npm run storm`. */
  readonly isOtherForm?: true;
  /** The number of cases that run at once. With a real clock they wait most of the time. Default 1. */
  readonly atOnce?: number;
}

/** A store that the contract runs on in this process. */
export interface ContractSubject extends Omit<Subject, "run"> {
  /** Makes a new, empty store for the case with this index. */
  readonly bench: (index: number) => Promise<StoreBench>;
}

/** Waits in real time, for stores whose clock cannot be moved. */
export function wait(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

/** Runs the whole contract on a store. `npm run contract` counts the tests below this title. */
export function contractOf(name: string, { bench, ...subject }: ContractSubject): void {
  const run = async (contractCase: ContractCase, index: number): Promise<RanCase> => {
    const opened = await bench(index);
    try {
      const claimed = isClaimed(contractCase, opened);
      if (claimed) await contractCase.run(opened);
      return { features: opened.store.features, isClaimed: claimed };
    } finally {
      await opened.store.close();
    }
  };
  contractRunBy(name, { ...subject, run });
}

/** Runs the contract on a store that lives in another runtime, for example workerd; `run` runs the cases there. */
export function contractRunBy(name: string, { over, url = "", missing, run, atOnce = 1, isOtherForm }: Subject): void {
  const title = `SnapshotStore contract: ${name}${over === undefined ? "" : ` (${over})`}`;
  if (isOtherForm && !effort.everyForm) {
    it.skip(`${title}: left to npm run contract and npm run storm`);
    return;
  }
  describe(title, () => {
    if (url === null) {
      meetsNoServer(name, missing);
      return;
    }
    const gate = gateOf(atOnce);
    for (const [index, contractCase] of snapshotStoreContract.entries()) {
      const test = async ({ skip, task }: { skip: (note?: string) => never; task: { meta: object } }): Promise<void> => {
        const leave = await gate();
        try {
          const { features, isClaimed: claimed } = await run(contractCase, index);
          // the table of stores in the docs is made from these features
          Object.assign(task.meta, { features });
          if (!claimed) skip(`not claimed: ${contractCase.needs}`);
        } finally {
          leave();
        }
      };
      if (atOnce > 1) it.concurrent(contractCase.name, test);
      else it(contractCase.name, test);
    }
  });
}

/** Makes a function that waits for one of `places` places, and returns a function that frees the place. */
export function gateOf(places: number): () => Promise<() => void> {
  let free = places;
  const waiting: (() => void)[] = [];
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free++;
  };
  return async () => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return leave;
  };
}
