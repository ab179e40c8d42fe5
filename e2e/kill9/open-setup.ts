import type { SnapshotStore } from "stepfold";
import type { WorkQueue } from "stepfold/runtime";
import { type Freezer, freezing } from "./freezer.ts";
import type { LogLine } from "./log.ts";
import { loggedQueue } from "./logged-queue.ts";
import { loggedStore } from "./logged-store.ts";
import { openQueue } from "./open-queue.ts";
import { openStore } from "./open-store.ts";
import type { ProcessOptions } from "./process-options.ts";

/** The store and the queue of a process's runtime. The store logs what is sent to it. */
export interface OpenedSetup {
  /** The options with which the runtime is created. */
  readonly around: { readonly store: SnapshotStore; readonly queue?: WorkQueue };
  /** Closes the queue and the store. Call it after the runtime is closed. */
  close(): Promise<void>;
}

/** Opens the store, and the queue if there is one. */
export async function openSetup(
  { url, queueUrl }: ProcessOptions,
  write: (line: LogLine) => void,
  freezer?: Freezer,
): Promise<OpenedSetup> {
  const { store, close } = await openStore(url, { ...(freezer && { freezer }) });
  // on MySQL the pool freezes, not the store
  const isFreezing = freezer !== undefined && !url.startsWith("mysql:");
  const inTransaction = queueUrl?.startsWith("pg-boss:") === true && store.features.transactions === "postgres";
  const logged = loggedStore(isFreezing ? freezing(store, freezer, { inTransaction }) : store, write);
  if (queueUrl === undefined) return { around: { store: logged }, close };
  const opened = await openQueue(queueUrl, store);
  return {
    around: { store: logged, queue: loggedQueue(opened.queue, write) },
    async close() {
      await opened.close();
      await close();
    },
  };
}
