import type { RuntimeName } from "../runtimes/runtimes.ts";

/** How much a run of the tests does. All numbers of repetitions in tests are here. */
export interface Effort {
  /** Whether databases that answer are used. */
  readonly servers: boolean;
  /** Whether the contract also runs on stand-ins for servers. */
  readonly everyStore: boolean;
  /**
   * Whether the contract also runs on variants of a store: with another client of its database (such as PGlite), over another store, or
   * with other settings.
   */
  readonly everyForm: boolean;
  /** The factor for the number of runs of a property test. */
  readonly propertyShare: number;
  /** The number of random graphs on which the engine and the reference model are compared. */
  readonly graphs: number;
  /** The number of branches of a fan whose moves are made in every order. */
  readonly branches: number;
  /** The largest number of explored states of a pattern, and of its commits at which a process dies. */
  readonly patternStates: number;
  readonly patternCrashes: number;
  /** Whether the patterns also run with the snapshot through JSON after every transition, which doubles their time. */
  readonly patternsThroughJson: boolean;
  /** The number of rounds in which processes race for one execution, on real stores and on stand-ins, which are slow. */
  readonly races: number;
  readonly standInRaces: number;
  /** The number of loops without a pause that are cancelled, on each store. */
  readonly loops: number;
  /**
   * The number of executions with a rate limit that processes begin, the limit, its period in milliseconds, and the least share of the
   * permitted starts that has to be used.
   */
  readonly rates: { readonly executions: number; readonly limit: number; readonly periodMs: number; readonly used: number };
  /** The numbers of killed processes: of the order flow, of a fleet on a store, of a fleet with a queue. */
  readonly orderKills: number;
  readonly storeKills: number;
  readonly queueKills: number;
  /** The store of the storms in which much happens at once, and their number of executions. */
  readonly storms: { readonly store: "sqlite" | "postgres"; readonly executions: number };
  /** The number of workers that are stopped for longer than their lease. */
  readonly zombies: number;
  /** The settings of the storm in which schedules tick while their processes are killed. */
  readonly tickStorm: {
    readonly store: "sqlite" | "postgres";
    readonly schedules: number;
    readonly everyMs: number;
    readonly ticks: number;
    readonly processes: number;
    readonly killEveryMs: number;
  };
  /** The number of due executions of 11 MB, and the heap in MB of the process that drives them. */
  readonly largeSnapshots: { readonly executions: number; readonly heapMb: number };
  /** The number of workers that stop in the middle of a commit. */
  readonly freezes: number;
  /** The number of crashes of a database. */
  readonly restarts: number;
  /** The number of random schedules of the simulation, and whether mutants are run too. */
  readonly schedules: number;
  readonly mutants: boolean;
  /** Whether pages are looked at in each theme at each width, and each hostile text on executions of every kind. */
  readonly everyLook: boolean;
  /** The runtimes on which the tests of the core, the engine and the expressions run besides the Node.js of all tests. */
  readonly runtimes: readonly RuntimeName[];
}

const efforts = {
  /** `npm test`: every kind of test that needs no server, with few repetitions, in three minutes on two cores. */
  quick: {
    servers: false,
    everyStore: false,
    everyForm: false,
    propertyShare: 0.2,
    graphs: 300,
    branches: 3,
    patternStates: 10_000,
    patternCrashes: 2,
    patternsThroughJson: false,
    races: 50,
    standInRaces: 10,
    loops: 12,
    rates: { executions: 100, limit: 25, periodMs: 1_500, used: 0.7 },
    orderKills: 4,
    storeKills: 3,
    queueKills: 3,
    storms: { store: "sqlite", executions: 6 },
    zombies: 1,
    tickStorm: { store: "sqlite", schedules: 20, everyMs: 1_000, ticks: 10, processes: 3, killEveryMs: 1_200 },
    largeSnapshots: { executions: 25, heapMb: 200 },
    freezes: 1,
    restarts: 1,
    schedules: 100,
    mutants: false,
    everyLook: false,
    runtimes: [],
  },
  /** `npm run test:all`, and vitest when it is called directly. */
  all: {
    servers: true,
    everyStore: true,
    everyForm: false,
    propertyShare: 1,
    graphs: 2_000,
    branches: 4,
    patternStates: Number.POSITIVE_INFINITY,
    patternCrashes: Number.POSITIVE_INFINITY,
    patternsThroughJson: true,
    races: 80,
    standInRaces: 20,
    loops: 36,
    rates: { executions: 60, limit: 20, periodMs: 4_000, used: 0.7 },
    orderKills: 12,
    storeKills: 6,
    queueKills: 4,
    storms: { store: "postgres", executions: 15 },
    zombies: 1,
    tickStorm: { store: "sqlite", schedules: 20, everyMs: 1_000, ticks: 10, processes: 3, killEveryMs: 1_200 },
    largeSnapshots: { executions: 90, heapMb: 512 },
    freezes: 1,
    restarts: 2,
    schedules: 2_000,
    mutants: true,
    everyLook: false,
    runtimes: ["workerd"],
  },
  /** `npm run storm`: for larger changes; takes an hour or two. */
  storm: {
    servers: true,
    everyStore: true,
    everyForm: true,
    propertyShare: 10,
    graphs: 100_000,
    branches: 4,
    patternStates: Number.POSITIVE_INFINITY,
    patternCrashes: Number.POSITIVE_INFINITY,
    patternsThroughJson: true,
    races: 5_000,
    standInRaces: 1_000,
    loops: 1_008,
    rates: { executions: 10_000, limit: 500, periodMs: 10_000, used: 0.95 },
    orderKills: 200,
    storeKills: 300,
    queueKills: 100,
    storms: { store: "postgres", executions: 1_000 },
    zombies: 50,
    // takes ten minutes
    tickStorm: { store: "postgres", schedules: 1_000, everyMs: 60_000, ticks: 10, processes: 4, killEveryMs: 10_000 },
    largeSnapshots: { executions: 90, heapMb: 512 },
    freezes: 20,
    restarts: 30,
    schedules: 50_000,
    mutants: true,
    everyLook: true,
    runtimes: ["node-20", "node-22", "node-24", "node-26", "bun", "deno", "workerd"],
  },
} satisfies Record<string, Effort>;

export type EffortName = keyof typeof efforts;

/** The environment variable with the name of the effort. */
export const effortVariable = "STEPFOLD_EFFORT";

const named = process.env[effortVariable] ?? "all";
if (!Object.hasOwn(efforts, named)) throw new RangeError(`${effortVariable} is ${named}, not one of ${Object.keys(efforts).join(", ")}`);

export const effort: Effort = efforts[named as EffortName];

/** Returns the number of tries of a property that has `count` tries in `npm run test:all`. */
export function tries(count: number): number {
  return Math.max(10, Math.round(count * effort.propertyShare));
}
