import { parseArgs } from "node:util";
import { type FaultKind, faultKinds, type SimulationMode } from "../../packages/stepfold/src/testing/simulation/machines/faults.ts";
import type { ScheduleOptions, WakeUps } from "../../packages/stepfold/src/testing/simulation/scenario.ts";
import type { Family } from "./job.ts";

/** With fewer schedules than this, no days are run by default: such a run looks for something else. */
const leastForDays = 100;

/** The arguments of the command. */
export interface Arguments {
  readonly schedules: number;
  readonly seed: number;
  /** The number of simulated days of schedules. */
  readonly days: number;
  /** What all schedules run. Null: random programs, and a part of the schedules in addition with each of the others. */
  readonly family: Family | null;
  readonly mutants: boolean;
  /** The name of the only mutant to run. Null: all mutants. */
  readonly only: string | null;
  readonly options: Omit<ScheduleOptions, "seed">;
}

const options = {
  schedules: { type: "string", default: "2000" },
  seed: { type: "string", default: "1" },
  days: { type: "string" },
  chance: { type: "string" },
  code: { type: "boolean", default: false },
  lives: { type: "boolean", default: false },
  "code-lives": { type: "boolean", default: false },
  crowds: { type: "boolean", default: false },
  mutants: { type: "boolean", default: false },
  only: { type: "string" },
  mode: { type: "string" },
  faults: { type: "string" },
  "faults-until": { type: "string" },
  clients: { type: "string" },
  "wake-ups": { type: "string" },
  "other-workers": { type: "string" },
} as const;

/**
 * Reads the arguments.
 * @throws RangeError with a message for the user
 */
export function readArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({ args: [...args], options });
  const { chance, mode, faults, clients } = values;
  const until = values["faults-until"];
  const wakeUps = values["wake-ups"];
  const others = values["other-workers"];
  const schedules = whole("schedules", values.schedules);
  return {
    schedules,
    days: values.days === undefined ? daysFor(schedules) : whole("days", values.days),
    seed: whole("seed", values.seed),
    family: (["code", "lives", "code-lives", "crowds"] as const).find((family) => values[family]) ?? null,
    mutants: values.mutants || values.only !== undefined,
    only: values.only ?? null,
    options: {
      ...(chance !== undefined && { chance: whole("chance", chance) }),
      ...(mode !== undefined && { mode: oneOf<SimulationMode>("mode", mode, ["liveness", "safety", "faultFree"]) }),
      ...(faults !== undefined && { faults: listed(faults).map((kind) => oneOf<FaultKind>("faults", kind, faultKinds)) }),
      ...(until !== undefined && { faultsUntilMs: whole("faults-until", until) }),
      ...(clients !== undefined && { clients: listed(clients).map((client) => whole("clients", client)) }),
      ...(wakeUps !== undefined && { wakeUps: oneOf<WakeUps>("wake-ups", wakeUps, ["both", "store", "queue"]) }),
      ...(others !== undefined && { otherWorkers: oneOf("other-workers", others, ["yes", "no"]) === "yes" }),
    },
  };
}

/** Returns the command that runs a schedule again. */
export function commandFor(options: ScheduleOptions, family: Family = "programs"): string {
  const { seed, chance, mode, faults, faultsUntilMs, clients, wakeUps, otherWorkers } = options;
  const words = ["npm run simulate -- --schedules 1", `--seed ${seed}`];
  if (family !== "programs") words.push(`--${family}`);
  if (chance !== undefined) words.push(`--chance ${chance}`);
  if (mode) words.push(`--mode ${mode}`);
  if (faults) words.push(`--faults "${faults.join(",")}"`);
  if (faultsUntilMs !== undefined) words.push(`--faults-until ${faultsUntilMs}`);
  if (clients) words.push(`--clients ${clients.join(",")}`);
  if (wakeUps) words.push(`--wake-ups ${wakeUps}`);
  if (otherWorkers !== undefined) words.push(`--other-workers ${otherWorkers ? "yes" : "no"}`);
  return words.join(" ");
}

/** Returns the default number of days for so many schedules; the days take about a tenth of the time. */
function daysFor(schedules: number): number {
  return schedules < leastForDays ? 0 : Math.ceil(schedules / 2_000);
}

function listed(text: string): string[] {
  return text === "" ? [] : text.split(",");
}

function whole(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new RangeError(`--${name} must be a whole number, not "${text}"`);
}

function oneOf<T extends string>(name: string, text: string, all: readonly T[]): T {
  const found = all.find((one) => one === text);
  if (found) return found;
  throw new RangeError(`--${name} must be one of ${all.join(", ")}, not "${text}"`);
}
