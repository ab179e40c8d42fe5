import { isDeepStrictEqual } from "node:util";
import type { ResumedEvent } from "stepfold";
import type { Store } from "./database.ts";

const pageSize = 500;

/** An answer as a command gives it. */
export interface Answer {
  readonly node?: string | undefined;
  readonly wait?: string | undefined;
  readonly payload: unknown;
}

/**
 * Whether the latest answer to that wait, that node, or at all, was this one. So a command that was killed after its
 * answer was committed can be given again, and goes on.
 */
export async function wasAnswered(store: Store, workflowId: string, { node, wait, payload }: Answer): Promise<boolean> {
  let latest: ResumedEvent | null = null;
  const nodes = new Map<string, string>();
  for (let after = -1; ; ) {
    const rows = await store.events(workflowId, after, pageSize);
    for (const { event } of rows) {
      if (event.type === "suspended") for (const { id } of event.waits) nodes.set(id, event.nodeId);
      if (event.type !== "resumed" || event.by !== "payload") continue;
      if (wait !== undefined && event.waitId !== wait) continue;
      if (node === undefined || nodes.get(event.waitId) === node) latest = event;
    }
    if (rows.length < pageSize) return latest !== null && isDeepStrictEqual(latest.payload, payload);
    after = rows.at(-1)!.version;
  }
}
