import { describe, it } from "vitest";
import { effort } from "../../../../scripts/test/effort.ts";
import type { StoreFeatures } from "../../src/ports/snapshot-store.ts";
import { type ContractCase, isClaimed, type StoreBench, snapshotStoreContract } from "../../src/testing/index.ts";
import { meetsNoServer } from "./no-server.fixture.ts";

/** A case that has run and passed, or was left out. */
export interface RanCase {
  readonly features: StoreFeatures;
  /** False: the store, or its bench, does not claim what the case asks for. */
  readonly isClaimed: boolean;
}

/** A store that the contract runs on. */
interface Subject {
  /** Where it runs, for people: `a file`, `Redis 7.0.15 through ioredis`. */
  readonly over?: string;
  /** Null if the server it needs does not answer: then nothing runs, loudly, or fails with REQUIRE_SERVICES=1. */
  readonly url?: string | null;
  /** How to get what is missing. */
  readonly missing?: string;
  /** Runs a case on a new, empty store: a schema, database or prefix of its own. The index is that of the case. */
  readonly run: (contractCase: ContractCase, index: number) => Promise<RanCase>;
  /** The same store through another client, or over another store: left to `npm run contract` and `npm run storm`. */
  readonly isOtherForm?: true;
  /** Cases that run at once: a store with a real clock waits most of the time. Default 1. */
  readonly atOnce?: number;
}

/** A store that the contract runs on in this process. */
export interface ContractSubject extends Omit<Subject, "run"> {
  /** A new, empty store for a case. */
  readonly bench: (index: number) => Promise<StoreBench>;
}

/** Real time, for stores whose clock nobody can move. */
export function wait(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

/** Runs the whole contract on a store. `npm run contract` counts what is below this title. */
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

/** The same where something else runs the cases: another runtime, in which the store lives. */
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
          // for the table of stores in the docs
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

/** Lets so many in at once. */
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
