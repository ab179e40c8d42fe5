import type { Commit } from "../../ports/snapshot-store.ts";
import type { Verdict } from "../record/group-commit.ts";
import type { Connection } from "./connection.ts";

/**
 * Makes one write in a transaction with what is to come with it. A write that is refused is undone before anything else is
 * written; a commit that had been applied before counts as made, and what comes with it is written again.
 */
export function writeAlongside<T>(
  transact: NonNullable<Connection["transact"]>,
  alongside: NonNullable<Commit["alongside"]>,
  write: (own: Connection) => Promise<readonly Verdict<T>[]>,
): Promise<T> {
  return transact(async (own, query) => {
    const [verdict] = await write(own);
    if ("refused" in verdict!) throw verdict.refused;
    await alongside(query);
    return verdict!.value;
  });
}
