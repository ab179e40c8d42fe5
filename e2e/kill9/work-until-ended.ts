import type { SnapshotStore } from "stepfold";
import type { Runtime } from "stepfold/runtime";

/** What the process of a worker has opened. */
interface Opened {
  readonly runtime: Runtime;
  readonly store: SnapshotStore;
  close(): Promise<void>;
}

/** Tells the parent process that the worker works. The process ends when it is asked to, after its runtime is closed, and when its parent is gone. */
export async function workUntilEnded({ runtime, store, close }: Opened): Promise<void> {
  process.once("SIGTERM", async () => {
    await runtime.close();
    await close();
    process.exit(0);
  });
  process.once("disconnect", () => process.exit(3));
  await store.list({ limit: 1 });
  process.send?.("ready");
}
