import type { EpochMs } from "stepfold";
import type { Store } from "./database.ts";

/**
 * Returns a function that tells the time by the clock of a database, by which timers are due. The database is asked once: after that, the
 * clock of this machine counts, corrected by the difference.
 */
export async function clockOf(store: Pick<Store, "now">): Promise<() => EpochMs> {
  const aheadMs = (await store.now()) - Date.now();
  return () => Date.now() + aheadMs;
}
