import { chooseFaults, type FaultKind, type SimulationMode } from "./machines/faults.ts";
import type { Random } from "./random.ts";
import type { Scenario, ScheduleOptions, WakeUps } from "./scenario.ts";

/** Everything about a schedule that is decided before it begins. */
export interface SchedulePlan {
  readonly mode: SimulationMode;
  readonly faults: readonly FaultKind[];
  /** When the last fault may happen, in milliseconds since the beginning. It counts only in the mode `liveness`. */
  readonly faultsUntilMs: number;
  readonly wakeUps: WakeUps;
  /** The clients that take part, by their index in the scenario. */
  readonly clients: readonly number[];
  /** The number of workers that have everything. */
  readonly workers: number;
  /** Whether the scenario's `otherWorkers` run too. */
  readonly otherWorkers: boolean;
  readonly leaseMs: number;
  /** The time between two polls of the store for due executions, in milliseconds. */
  readonly pollMs: number;
}

/** Makes the plan. The seed decides the options that are not given. */
export function planOf(options: ScheduleOptions, random: Random, { clients, otherWorkers }: Scenario): SchedulePlan {
  const mode = options.mode ?? random.fork("mode").pick(["liveness", "liveness", "liveness", "safety", "faultFree"] as const);
  const faults = options.faults ?? chooseFaults(random.fork("kinds"), mode);
  const wakeUps =
    options.wakeUps ??
    random.fork("wake-ups").pick(mode === "faultFree" ? (["both", "store", "queue"] as const) : (["both", "store"] as const));
  const sizes = random.fork("sizes");
  return {
    mode,
    faults,
    faultsUntilMs: options.faultsUntilMs ?? 15_000,
    wakeUps,
    clients: options.clients ?? clients.map((_, index) => index),
    otherWorkers: otherWorkers !== undefined && (options.otherWorkers ?? random.fork("other workers").chance(0.5)),
    workers: sizes.between(1, 3),
    leaseMs: sizes.pick([1_000, 2_000, 4_000]),
    pollMs: sizes.pick([200, 500]),
  };
}
