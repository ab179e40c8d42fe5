import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { NodeDefinitions } from "../../engine/node/node-definition.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import type { RuntimeOptions } from "../../runtime/context/runtime-options.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { FaultKind, SimulationMode } from "./faults.ts";
import type { Random } from "./random.ts";

/** What a store needs to know of the world it is in. */
export interface StoreWorld {
  /** The clock of the store, which is right. */
  readonly now: () => EpochMs;
  /** The clock of the process whose call is being served: that of a store that trusts it. */
  readonly callerNow: () => EpochMs;
  /** Lets time pass within a call. */
  readonly sleep: (ms: number) => Promise<void>;
  /**
   * For how long the transaction of somebody else, or of a process that stands still, still holds the row of an execution; 0: none does.
   * Writes of the row wait for it or fail, claims pass it over, and all else goes on. Only a store that asks has this fault.
   */
  readonly lockedForMs: (workflowId: string) => number;
  /** Called once by a store that can become what it was a moment ago. Only such a store has a `failover`. */
  readonly onFailover: (become: (asOf: EpochMs) => void) => void;
}

/** What a client's script can do. */
export interface Client {
  /** A runtime of its own, in a process of its own. */
  readonly runtime: Runtime;
  /** The same numbers however often the script is begun. */
  readonly random: Random;
  readonly now: () => EpochMs;
  readonly sleep: (ms: number) => Promise<void>;
  /** How often its process has died, or was told that store or queue did not answer. */
  readonly restarts: number;
}

/**
 * What one client does. It may die at any moment; then, and when the store does not answer, it begins again from the
 * start: so everything in it has to be of the kind that may be repeated, with ids and keys of its own choice.
 * What it throws otherwise is a violation.
 */
export type ClientScript = (client: Client) => Promise<void>;

/** An execution at the end of a schedule. */
export interface Ended {
  readonly snapshot: Snapshot;
  readonly events: readonly Event[];
}

/** What is to be simulated. */
export interface Scenario {
  /** A new and empty store. Its answers must depend on nothing but its calls and `now`: a memory store with that clock. */
  readonly store: (world: StoreWorld) => SnapshotStore;
  /** What the processes of a release know. Later releases come with restarts. Default: the same for all. */
  readonly workflows: readonly unknown[] | ((release: number) => readonly unknown[]);
  /** Executors must not use real time or chance; they need not take time: the simulation sees to that. */
  readonly nodeDefinitions: NodeDefinitions;
  /** Half of the processes that only hand over do not have the code of nodes: payloads that only it can check are refused with `CODE_NEEDED`. */
  readonly withoutCode?: boolean;
  /** More options of the runtimes, `globals` for instance. */
  readonly runtime?: Partial<Omit<RuntimeOptions, "store" | "queue" | "nodeDefinitions" | "workflows" | "environment" | "drive">>;
  /** What a runtime is given instead of the store, with its latency and faults: a wrapper that is to be tried, or a broken one. */
  readonly seenStore?: (store: SnapshotStore) => SnapshotStore;
  /** The same of the simulated queue. */
  readonly seenQueue?: (queue: WorkQueue) => WorkQueue;
  /**
   * What people and programs do, all at once. Those of one list belong together, as all that deal with one execution: where
   * something went wrong the others are left out, to make it easier to understand.
   */
  readonly clients: readonly (ClientScript | readonly ClientScript[])[];
  /** More rules of yours: gives what is wrong with an execution at the end, nothing if all is well. Asked where all came to its end. */
  readonly check?: (ended: Ended) => Iterable<string>;
}

/** Makes what is to be simulated with a seed. */
export type ScenarioOf = (random: Random) => Scenario;

/** What decides a schedule: the same ones give the same schedule. */
export interface ScheduleOptions {
  readonly seed: number;
  /** Other latencies, faults and turns than those that the seed decides, in the same scenario. Default: those of the seed. */
  readonly chance?: number;
  /** Default: the seed decides. */
  readonly mode?: SimulationMode;
  /** Default: about half of all kinds, as the seed decides. */
  readonly faults?: readonly FaultKind[];
  /** When faults end, in milliseconds since the beginning. Default 15 s. */
  readonly faultsUntilMs?: number;
  /** Only these clients, by their index. Default: all. */
  readonly clients?: readonly number[];
  /** Default: the seed decides between `both`, `store` (no queue) and `queue` (nobody looks for what it lost; only where it loses nothing). */
  readonly wakeUps?: WakeUps;
}

/** What tells workers that there is something to do. */
export type WakeUps = "both" | "store" | "queue";
