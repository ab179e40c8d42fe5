import type { SnapshotStore } from "../../packages/stepfold/src/ports/snapshot-store.ts";
import type { WorkQueue } from "../../packages/stepfold/src/ports/work-queue.ts";
import type { ScheduleOptions, StoreWorld } from "../../packages/stepfold/src/testing/simulation/scenario.ts";
import type { Family } from "./job.ts";

/**
 * A limit for a figure over many schedules, for mistakes that no rule notices because something else makes up for them. For example, a
 * message that is acknowledged before its work is done loses nothing as long as workers also poll the store; but then the polls have to
 * find the work.
 */
export interface Gate {
  readonly options: Omit<ScheduleOptions, "seed">;
  readonly schedules: number;
  /**
   * The largest average number of rescues in one schedule. A rescue is a claim of an execution whose holder lost its lease, or that was
   * overdue although a message had announced it.
   */
  readonly mostRescues: number;
}

/** A gate in which calls of the store fail before they have an effect, so that messages have to be delivered again. */
export const messagesAreKept: Gate = {
  options: { mode: "liveness", faults: ["storeErrorBefore"], wakeUps: "both", otherWorkers: false },
  schedules: 200,
  mostRescues: 0.08,
};

/** A deliberate mistake, which the simulation has to notice. */
interface Mistake {
  readonly name: string;
  /** The rules that can notice it; one of them is enough. */
  readonly caughtBy: readonly string[];
  /** The options under which it shows soonest. Default: any schedule. */
  readonly options?: Omit<ScheduleOptions, "seed">;
  /**
   * The seed with which the search begins, because it is known to show the mistake. Default: 1. If this seed does not show it, the
   * search goes on with the next seeds.
   */
  readonly firstSeed?: number;
  /** The schedules in which the mistake shows. Default: `programs`. */
  readonly family?: Family;
  /** The gate that the mistake does not pass, if only a figure shows it. */
  readonly gate?: Gate;
}

/** A mistake in the code: text of a file that is replaced while the file is loaded. The file itself is not changed. */
export interface CodeMutant extends Mistake {
  readonly patches: readonly Patch[];
}

/** One replacement. The old text must be in the file exactly once. */
interface Patch {
  /** The path below `packages/stepfold/src`. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

/** A mistake in a store or a queue, made by a wrapper around a correct one. */
export interface PortMutant extends Mistake {
  /** Wraps the store itself, for all runtimes. */
  readonly store?: (store: SnapshotStore, world: StoreWorld) => SnapshotStore;
  /** Wraps the store for one runtime. */
  readonly seenStore?: (store: SnapshotStore) => SnapshotStore;
  /** Wraps the queue for one runtime. */
  readonly seenQueue?: (queue: WorkQueue) => WorkQueue;
}
