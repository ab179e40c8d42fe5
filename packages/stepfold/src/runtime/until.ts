import type { Snapshot } from "../core/snapshot.ts";
import { type Kernel, load } from "./kernel.ts";

/** Resolves with the next change, or when it is time to look whether another process made one. */
export function changed({ changes, setting, pollMs }: Kernel, workflowId: string): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      unlisten();
      cancel();
      resolve();
    };
    const unlisten = changes.listen(workflowId, done);
    const cancel = setting.environment.after(pollMs, done);
  });
}

/** The first snapshot, from now on, of which `holds` is true. */
export async function until(kernel: Kernel, workflowId: string, holds: (snapshot: Snapshot) => boolean): Promise<Snapshot> {
  for (;;) {
    // listening before looking: a change in between is not missed
    const next = changed(kernel, workflowId);
    const snapshot = await load(kernel, workflowId);
    if (holds(snapshot)) return snapshot;
    await next;
  }
}
