import type { SnapshotStore } from "stepfold";
import { aMillionOthers, type Crowd, claimedAmong, keyedBesideFull, keylessBesideFull } from "./claimed-among.ts";
import { countedStores, loopedBytes } from "./counted-stores.ts";
import { type Home, type Place, postgresHome, sqliteHome } from "./homes.ts";
import type { Library } from "./library.ts";
import { line } from "./line.ts";

/** A function that does some work and returns the measured figure. */
type Slice = () => Promise<number>;

/** How the measurements of two builds alternate. */
interface Turns {
  /**
   * `fresh`: each round starts two new processes. `same`: two processes serve all rounds, because their setup takes long. `once`: one
   * round, because the figure never varies.
   */
  readonly rounds: "fresh" | "same" | "once";
  /** How long each process works before it is measured. */
  readonly warmMs: number;
  /** The number of slices of each build in one round. */
  readonly slices: number;
  /** A wait before each slice, so that work which the other build has left to the server does not slow this slice down. */
  readonly pauseMs?: number;
}

/** The limit for the ratios of this build's figures to those of the other build. */
export interface Limit {
  /** The largest allowed median of the ratios. */
  readonly median: number;
  /** At least one round has to stay below this ratio: a slowdown that every round shows is not noise. Absent: no such limit. */
  readonly least?: number;
}

/** A kind of work on which two builds are compared. */
export interface Load {
  /** The unit of the figures, such as "ns/step". */
  readonly unit: string;
  readonly turns: Turns;
  readonly limit: Limit;
  /** The number of rounds without the option `--rounds`. */
  readonly rounds: number;
  /** Prepares the load, and returns the function that measures one slice. */
  readonly open: (place: Place) => Promise<Slice>;
}

const inProcess: Pick<Load, "limit" | "rounds"> = { limit: { median: 1.05 }, rounds: 5 };
const onServer: Pick<Load, "limit" | "rounds"> = { limit: { median: 1.1, least: 1.05 }, rounds: 10 };

const steps = { unit: "ns/step", turns: { rounds: "fresh", warmMs: 3_000, slices: 150 } } as const;
const serverSteps = { ...steps, turns: { ...steps.turns, pauseMs: 6 } } as const;
const claims = { unit: "µs/claim", turns: { rounds: "same", warmMs: 3_000, slices: 20 } } as const;

const output = { data: { ok: true } };

/** All loads, by name. */
export const loads: Readonly<Record<string, Load>> = {
  "memory-10": { ...steps, ...inProcess, open: (place) => inMemory(place, 10, async () => output) },
  "memory-10-sync": { ...steps, ...inProcess, open: (place) => inMemory(place, 10, () => output) },
  "memory-1000": { ...steps, ...inProcess, open: (place) => inMemory(place, 1_000, async () => output) },
  "sqlite-1": { ...steps, ...inProcess, open: (place) => stepsOn(sqliteHome, place, 1) },
  "sqlite-50": { ...steps, ...inProcess, open: (place) => stepsOn(sqliteHome, place, 50) },
  "postgres-1": { ...serverSteps, ...onServer, open: (place) => stepsOn(postgresHome, place, 1) },
  "postgres-50": { ...serverSteps, ...onServer, open: (place) => stepsOn(postgresHome, place, 50) },
  ...bytesOfAll(),
  ...claimsAmong("claim-million", aMillionOthers),
  ...claimsAmong("claim-full-key", keylessBesideFull),
  ...claimsAmong("claim-other-key", keyedBesideFull),
};

function bytesOfAll(): Readonly<Record<string, Load>> {
  const shared = { unit: "MB", turns: { rounds: "once", warmMs: 0, slices: 1 }, limit: { median: 1.05 }, rounds: 1 } as const;
  const loadOf = (store: keyof typeof countedStores): Load => ({
    ...shared,
    open: async ({ library }) => {
      const opened = await countedStores[store](library);
      return async () => (await loopedBytes(library, opened)) / 1e6;
    },
  });
  const names = Object.keys(countedStores) as (keyof typeof countedStores)[];
  return Object.fromEntries(names.map((store) => [`bytes-${store}`, loadOf(store)]));
}

function claimsAmong(name: string, crowd: Crowd): Readonly<Record<string, Load>> {
  return {
    [`${name}-sqlite`]: { ...claims, ...inProcess, open: async (place) => claimedAmong(place, await sqliteHome(place), crowd) },
    [`${name}-postgres`]: { ...claims, ...onServer, open: async (place) => claimedAmong(place, await postgresHome(place), crowd) },
  };
}

async function inMemory({ library }: Place, length: number, executor: () => typeof output | Promise<typeof output>): Promise<Slice> {
  const steps = 3_000;
  const { WorkflowEngine } = await library(".");
  const engine = new WorkflowEngine({ workflow: line(length), nodeDefinitions: { work: { executor } } });
  return timed(steps, async () => {
    for (let done = 0; done < steps; done += length) await engine.execute({});
  });
}

async function stepsOn(home: (place: Place) => Promise<Home>, place: Place, concurrency: number): Promise<Slice> {
  const { store } = await home(place);
  const one = await tenSteps(place.library, store);
  return timed(concurrency * 10, () => Promise.all(Array.from({ length: concurrency }, one)));
}

/** Returns a function that runs an execution of ten steps to its end. */
async function tenSteps(library: Library, store: SnapshotStore): Promise<() => Promise<void>> {
  const { createRuntime } = await library("./runtime");
  const nodeDefinitions = { work: { executor: async () => output } };
  const runtime = createRuntime({ store, workflows: [line(10)], nodeDefinitions });
  return async () => {
    const run = await runtime.start("line-10");
    await run.result();
  };
}

/** Returns a slice that measures the nanoseconds per step of some work, which runs `steps` steps. */
function timed(steps: number, work: () => Promise<unknown>): Slice {
  return async () => {
    const from = process.hrtime.bigint();
    await work();
    return Number(process.hrtime.bigint() - from) / steps;
  };
}
