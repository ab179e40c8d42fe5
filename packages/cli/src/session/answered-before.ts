import { isDeepStrictEqual } from "node:util";
import type { ResumedEvent } from "stepfold";
import { trail } from "stepfold/core";
import type { Store } from "../store/database.ts";

const pageSize = 500;

/** An answer as a command gives it. */
export interface GivenAnswer {
  readonly step?: string | undefined;
  readonly wait?: string | undefined;
  readonly payload: unknown;
  readonly by?: string | undefined;
}

/**
 * Whether the latest answer in the history is this one. Only answers to the given wait and at the given place are compared, as far as these
 * are given, and only those by the same person, or by nobody if none is named. So a command that was killed after its answer was committed
 * can be given again, and goes on; and the answer of somebody else is not taken for it.
 */
export async function wasAnswered(store: Store, workflowId: string, { step, wait, payload, by }: GivenAnswer): Promise<boolean> {
  let latest: ResumedEvent | null = null;
  const seen = trail();
  for (let after = -1; ; ) {
    const rows = await store.events(workflowId, after, pageSize);
    for (const { event } of rows) {
      seen.see(event);
      if (event.type === "answerRefused" && event.answer === latest?.version) latest = null;
      if (event.type !== "resumed" || event.by !== "payload") continue;
      if (wait !== undefined && event.waitId !== wait) continue;
      if (event.who !== by) continue;
      const address = seen.at(event.scope, event.pathId);
      if (step === undefined || step === address || address.endsWith(`/${step}`)) latest = event;
    }
    if (rows.length < pageSize) return latest !== null && isDeepStrictEqual(latest.payload, payload);
    after = rows.at(-1)!.version;
  }
}
