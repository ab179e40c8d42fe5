import type { Snapshot, Status } from "../core/snapshot/snapshot.ts";
import type { News } from "./changes.ts";
import { type Kernel, load } from "./kernel.ts";

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

/** The next change after which the status is one that matters. Ask before you look: then no change in between is missed. */
export function newsOf(
  { changes, driver, setting, pollMs }: Kernel,
  workflowId: string,
  matters: (status: Status) => boolean = () => true,
): News {
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
