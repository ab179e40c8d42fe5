import { isTerminal, type Snapshot, type Status } from "../../core/snapshot/snapshot.ts";
import type { Change, News } from "../context/changes.ts";
import { type Kernel, load } from "../context/runtime-context.ts";

/**
 * The first snapshot, from now on, of which `holds` is true.
 *
 * @param matters whether it can be true with a status: a snapshot is only loaded if so, since that costs what it holds
 */
export async function until(
  kernel: Kernel,
  workflowId: string,
  matters: (status: Status) => boolean,
  holds: (snapshot: Snapshot) => boolean,
): Promise<Snapshot> {
  for (;;) {
    const news = newsOf(kernel, workflowId, matters);
    try {
      const snapshot = await load(kernel, workflowId);
      if (holds(snapshot)) return snapshot;
      await news.come;
    } finally {
      news.cancel();
    }
  }
}

/**
 * The snapshot of an execution that has ended. Of one that is driven here nothing is loaded: whoever drives it tells.
 */
export async function ended(kernel: Kernel, workflowId: string): Promise<Snapshot> {
  for (;;) {
    const news = newsOf(kernel, workflowId, isTerminal);
    try {
      if (!kernel.driver.follows(workflowId, isTerminal)) {
        const snapshot = await load(kernel, workflowId);
        if (isTerminal(snapshot.status)) return snapshot;
      }
      const change = await news.come;
      if (change) return change.snapshot();
    } finally {
      news.cancel();
    }
  }
}

/** The next change after which the status is one that matters. Ask before you look: then no change in between is missed. */
export function newsOf(
  { changes, driver, setting, pollMs }: Kernel,
  workflowId: string,
  matters: (status: Status) => boolean = () => true,
): News {
  let cancel = (): void => undefined;
  const come = new Promise<Change | null>((resolve) => {
    const done = (change: Change | null): void => {
      cancel();
      resolve(change);
    };
    const unlisten = changes.listen(workflowId, (change) => {
      if (matters(change.status)) done(change);
    });
    let endTimer = (): void => undefined;
    const arm = (): void => {
      // of what is driven here every change is told
      endTimer = setting.environment.after(pollMs, () => (driver.holds(workflowId) ? arm() : done(null)));
    };
    cancel = () => {
      unlisten();
      endTimer();
    };
    arm();
  });
  return { come, cancel: () => cancel() };
}
