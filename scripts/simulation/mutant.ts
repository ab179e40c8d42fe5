import type { SnapshotStore } from "../../packages/stepfold/src/ports/snapshot-store.ts";
import type { WorkQueue } from "../../packages/stepfold/src/ports/work-queue.ts";
import type { ScheduleOptions, StoreWorld } from "../../packages/stepfold/src/testing/simulation/scenario.ts";

/**
 * A figure that has to hold over many schedules: what no rule sees, because something else makes up for it. A message that is
 * acknowledged before its work is done loses nothing, as long as somebody looks around; but then somebody has to.
 */
export interface Gate {
  readonly options: Omit<ScheduleOptions, "seed">;
  readonly schedules: number;
  /** Rescues in one schedule, on average. */
  readonly mostRescues: number;
}

/** Calls of the store fail before they have an effect: what a message has told is told again. */
export const messagesAreKept: Gate = {
  options: { mode: "liveness", faults: ["storeErrorBefore"], wakeUps: "both" },
  schedules: 200,
  mostRescues: 0.08,
};

/** A deliberate mistake: the simulation has to notice. */
interface Mistake {
  readonly name: string;
  /** Rules that notice it; any of them will do. */
  readonly caughtBy: readonly string[];
  /** Where it shows soonest. Default: any schedule. */
  readonly options?: Omit<ScheduleOptions, "seed">;
  /** The search begins with this seed, which is known to show it. Default 1. Where it no longer does, the search goes on behind it. */
  readonly firstSeed?: number;
  /** It shows in a figure only: the gate that it does not pass. */
  readonly gate?: Gate;
}

/** A mistake in the code: text of one file that is replaced while it is loaded. The file itself has no trace of it. */
export interface CodeMutant extends Mistake {
  readonly patches: readonly Patch[];
}

/** One replacement. The text must be there exactly once. */
interface Patch {
  /** Below `packages/stepfold/src`. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

/** A mistake in a store or a queue, as a wrapper around a right one. */
export interface PortMutant extends Mistake {
  /** The store itself, seen by everybody. */
  readonly store?: (store: SnapshotStore, world: StoreWorld) => SnapshotStore;
  /** What lies between one runtime and the store. */
  readonly seenStore?: (store: SnapshotStore) => SnapshotStore;
  readonly seenQueue?: (queue: WorkQueue) => WorkQueue;
}
