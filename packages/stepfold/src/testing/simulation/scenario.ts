import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { NodeDefinitions } from "../../engine/node/node-definition.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import type { RuntimeOptions } from "../../runtime/context/runtime-options.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { FaultKind, SimulationMode } from "./machines/faults.ts";
import type { Random } from "./random.ts";

/** What a store can learn and use of the simulated world. */
export interface StoreWorld {
  /** The clock of the store, which is right. */
  readonly now: () => EpochMs;
  /** The clock of the process whose call is being served, for a store that trusts the clocks of its callers. */
  readonly callerNow: () => EpochMs;
  /** Lets time pass within a call. */
  readonly sleep: (ms: number) => Promise<void>;
  /**
   * For how many milliseconds from now another transaction will lock the row of an execution; 0: the row is free. A store should let
   * writes of a locked row, and a claim of it by its id, wait or fail, and should pass it over when any due execution is claimed. In a
   * store that never calls this, the fault `rowLock` has no effect.
   */
  readonly lockedForMs: (workflowId: string) => number;
  /**
   * A store that can go back to an earlier state calls this once, when it is made. When the fault `failover` happens, the simulation calls
   * `become` with the time whose state the store must take. In other stores that fault has no effect.
   */
  readonly onFailover: (become: (asOf: EpochMs) => void) => void;
}

/** What a client's script can do. */
export interface SimulatedClient {
  /** The runtime of the process that the script runs in; other scripts may run in it too. */
  readonly runtime: Runtime;
  /** Random numbers that begin anew with each restart: they are the same every time. */
  readonly random: Random;
  readonly now: () => EpochMs;
  readonly sleep: (ms: number) => Promise<void>;
  /**
   * How many times the script was begun again, because its process ended, the
   * store or queue did not answer, or the store lost acknowledged writes.
   */
  readonly restarts: number;
}

/**
 * What one client does. Its process may die at any moment. Then, and if the store does not answer, the script begins again from the
 * start. So everything in the script must be repeatable: ids and keys must be the same each time, fixed or from `random`. Any other
 * error that the script throws is a violation.
 */
export type ClientScript = (client: SimulatedClient) => Promise<void>;

/** An execution that has ended, as it is when the schedule is over. A schedule is one simulated run of a scenario. */
export interface Ended {
  readonly snapshot: Snapshot;
  readonly events: readonly Event[];
}

/** A worker that does not have all of the code, or takes only some task queues. */
export interface OtherWorker {
  /** The node types whose code it lacks. It knows no workflow with such nodes either. Default: none. */
  readonly lacks?: readonly string[];
  /** The task queues that it takes. Default: all. */
  readonly taskQueues?: readonly string[];
}

/** What to simulate. */
export interface Scenario {
  /**
   * Makes a new and empty store. Its answers must depend on nothing but its calls and the world that it is given, or a schedule cannot be
   * repeated. A memory store with the clock `now` will do.
   */
  readonly store: (world: StoreWorld) => SnapshotStore;
  /**
   * The workflows of every process, or a function that returns the workflows of a release. The first process of each kind has release 0; a
   * process that takes its place has the next number.
   */
  readonly workflows: readonly unknown[] | ((release: number) => readonly unknown[]);
  /**
   * Executors must not use the real clock or real random numbers. They may
   * return at once: the simulation makes most steps take virtual time.
   */
  readonly nodeDefinitions: NodeDefinitions;
  /**
   * True if about half of the processes that run no steps have no node definitions, as a web server may have none. There, payloads that
   * only the code of a node can check are refused with `CODE_NEEDED`. Default: false.
   */
  readonly withoutCode?: boolean;
  /**
   * Workers that do not have all of the code, or take only some task queues, as during a deployment, or if services share a store. In about
   * half of the schedules one of each runs beside the workers that have everything; only the first of them if nothing but a queue tells
   * workers what is due. Default: none.
   */
  readonly otherWorkers?: readonly OtherWorker[];
  /** More options of the runtimes, such as `globals`. */
  readonly runtime?: Partial<Omit<RuntimeOptions, "store" | "queue" | "nodeDefinitions" | "workflows" | "environment" | "drive">>;
  /** Wraps the store of each runtime, which already has latency and faults, to test a wrapper or a broken store. Default: no wrapper. */
  readonly seenStore?: (store: SnapshotStore) => SnapshotStore;
  /** Wraps the simulated queue in the same way. */
  readonly seenQueue?: (queue: WorkQueue) => WorkQueue;
  /**
   * What people and programs do; all of them begin at the same time. Scripts in an inner list belong together, for instance because they
   * use the same execution: when a failed schedule is made smaller, an entry of the outer list is removed as a whole or not at all.
   */
  readonly clients: readonly (ClientScript | readonly ClientScript[])[];
  /**
   * Your own rule. It is called after a schedule with every execution that
   * has ended, and returns a text for each mistake that it finds.
   */
  readonly check?: (ended: Ended) => Iterable<string>;
}

/** Makes the scenario of a seed. @param random numbers that the seed decides */
export type ScenarioOf = (random: Random) => Scenario;

/** What decides a schedule: the same options give the same schedule. */
export interface ScheduleOptions {
  readonly seed: number;
  /**
   * A second seed for latencies, the moments of faults and the order of
   * calls; `seed` decides the rest. Default: `seed` decides everything.
   */
  readonly chance?: number | undefined;
  /** Whether faults end at some time, never end, or do not happen; see `SimulationMode`. Default: the seed decides. */
  readonly mode?: SimulationMode | undefined;
  /** The kinds of faults that may happen. Default: the seed decides; about half of the kinds that are possible in the mode. */
  readonly faults?: readonly FaultKind[] | undefined;
  /** When the faults end in the mode `liveness`, in milliseconds since the beginning. Default: 15 s. */
  readonly faultsUntilMs?: number | undefined;
  /** Runs only these entries of the scenario's `clients`, by their index; an inner list is one entry. Default: all. */
  readonly clients?: readonly number[] | undefined;
  /**
   * What wakes the workers. Default: the seed decides. It chooses `queue` alone only
   * without faults, because nothing would find a message that the queue lost.
   */
  readonly wakeUps?: WakeUps | undefined;
  /** Whether the scenario's `otherWorkers` run. Default: the seed decides. */
  readonly otherWorkers?: boolean | undefined;
}

/** How workers learn that there is something to do: from the queue, by asking the store, or by both. */
export type WakeUps = "both" | "store" | "queue";
