import type { Snapshot, Status } from "../core/snapshot.ts";
import { type Kernel, load } from "./kernel.ts";

/** A change to come, or the moment to look whether another process made one. */
interface News {
  readonly come: Promise<void>;
  /** Stops waiting for it. */
  readonly cancel: () => void;
}

/** Resolves with the next change after which the status is one that matters, or when it is time to look. */
export async function changed(kernel: Kernel, workflowId: string): Promise<void> {
  await newsOf(kernel, workflowId, () => true).come;
}

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
    // listening before looking: a change in between is not missed
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

function newsOf({ changes, driver, setting, pollMs }: Kernel, workflowId: string, matters: (status: Status) => boolean): News {
  let cancel = (): void => undefined;
  const come = new Promise<void>((resolve) => {
    const done = (): void => {
      cancel();
      resolve();
    };
    const unlisten = changes.listen(workflowId, (_version, status) => {
      if (matters(status)) done();
    });
    let endTimer = (): void => undefined;
    const arm = (): void => {
      // of what is driven here every change is told
      endTimer = setting.environment.after(pollMs, () => (driver.holds(workflowId) ? arm() : done()));
    };
    cancel = () => {
      unlisten();
      endTimer();
    };
    arm();
  });
  return { come, cancel: () => cancel() };
}
