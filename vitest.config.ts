import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { publicEntries, reportedPackages } from "./scripts/public-entries.ts";
import { effort } from "./scripts/test/effort.ts";

/** Tests read the sources, by the names that users import. */
const alias = reportedPackages.flatMap((folder) =>
  publicEntries(folder).map(({ name, source }) => ({ find: new RegExp(`^${name}$`), replacement: `${folder}/${source.slice(2)}` })),
);

const everyContract = "packages/*/{src,test}/**/*.contract.test.ts";
/** Contracts without servers and what stands in for them: of memory, SQLite, a file of libSQL and the toy database, and of what goes around a store. */
const fewContracts =
  "packages/*/{src,test}/**/{memory,sqlite,libsql-store,toy-store,blob,compressed,encrypted,tiered-store,moved-at-once,running-in-cold}*.contract.test.ts";

const races = ["e2e/racing-*.test.ts"];
const kills = [
  "e2e/{aws-kills,clock-jumps,disk-full,failover,frozen,gray,kill9,kill9-storm,proxy,restarts,restate-kills,schedules-kills,storms,zombies}.test.ts",
];
const simulation = ["e2e/simulation.test.ts"];
const mutants = ["e2e/mutants.test.ts"];
const runtimes = ["e2e/runtimes.test.ts"];

/** Settings of tests that start processes or talk to servers. */
interface WaitingTests {
  readonly sequence: { readonly groupOrder: number };
  readonly maxWorkers: number;
  readonly testTimeout: number;
  readonly hookTimeout: number;
}

/**
 * Tests of one group. They wait for processes, servers and the end of leases: two files for each processor run at once. Files that only
 * compute, at a low priority, run beside them in the time in which they wait.
 * @param groupOrder after which other groups they run
 * @param computing how many files of the group only compute
 */
function waiting(groupOrder: number, computing: number): WaitingTests {
  return { sequence: { groupOrder }, maxWorkers: availableParallelism() * 2 + computing, testTimeout: 120_000, hookTimeout: 60_000 };
}

const beforeRaces = waiting(1, mutants.length);
const withRaces = waiting(2, simulation.length + runtimes.length);

/** A browser uses a whole processor, so there is one file for each. They run when everything else is done. */
const pages: WaitingTests = { ...waiting(3, 0), maxWorkers: availableParallelism() };

/** Files that take long: they begin before the others of their group, so that no processor waits for one of them at the end. */
const long = [
  "mutants",
  "simulation",
  "runtimes",
  "kill9-storm",
  "racing-rates",
  "cli-stores",
  "cli-hostile",
  "dynamo-store.contract",
  "pg-boss-queue.contract",
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = long.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return found < 0 ? long.length : found;
    };
    return (await super.sort(files)).sort((a, b) => group(a) - group(b) || rank(a) - rank(b));
  }
}

export default defineConfig({
  resolve: { alias },
  test: {
    maxWorkers: "100%",
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/{src,test}/**/*.test.{ts,tsx}"],
          exclude: ["**/*.contract.test.ts"],
          setupFiles: ["scripts/test/seed.ts"],
          // files share what they import: loading the library again for each would take two thirds of the time
          pool: "threads",
          isolate: false,
          testTimeout: 30_000,
        },
      },
      // what runtimes do, once more while plugins watch
      {
        extends: true,
        test: {
          name: "watched",
          include: ["packages/stepfold/test/{runtime,schedules,nodes}/**/*.test.ts"],
          exclude: ["**/*.contract.test.ts"],
          setupFiles: ["scripts/test/seed.ts"],
          env: { STEPFOLD_WATCHED: "1" },
          pool: "threads",
          isolate: false,
          testTimeout: 60_000,
        },
      },
      // on real servers too: see scripts/services. Cases of a store wait for one another, and that counts as their time
      {
        extends: true,
        test: {
          name: "contract",
          include: [effort.everyStore ? everyContract : fewContracts],
          maxConcurrency: 1_000,
          isolate: false,
          ...beforeRaces,
          testTimeout: 600_000,
        },
      },
      { extends: true, test: { name: "patterns", include: ["{patterns,suites}/**/*.test.ts"], testTimeout: 180_000 } },
      { extends: true, test: { name: "architecture", include: ["scripts/**/*.test.ts"], testTimeout: 120_000 } },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["{e2e,examples}/**/*.test.ts"],
          exclude: [...races, ...kills, ...simulation, ...mutants, ...runtimes, "e2e/studio/**"],
          ...beforeRaces,
        },
      },
      // pages in a browser
      {
        extends: true,
        test: { name: "studio", include: ["e2e/studio/**/*.test.ts"], globalSetup: ["e2e/studio/install-browser.ts"], ...pages },
      },
      // only computes
      { extends: true, test: { name: "mutants", include: mutants, ...beforeRaces } },
      { extends: true, test: { name: "races", include: races, ...withRaces } },
      { extends: true, test: { name: "kills", include: kills, ...withRaces } },
      // these two only compute too
      { extends: true, test: { name: "simulation", include: simulation, ...withRaces } },
      { extends: true, test: { name: "runtimes", include: runtimes, ...withRaces } },
    ],
    coverage: {
      provider: "v8",
      reporter: [["text", { skipFull: true }]],
      include: ["packages/*/src/**/*.ts"],
      exclude: ["**/*.fixture.ts", "**/*.test-d.ts"],
      thresholds: {
        "packages/stepfold/src/core/**": { branches: 100, functions: 100, lines: 100 },
        "packages/stepfold/src/expressions/**": { branches: 100, functions: 100, lines: 100 },
      },
    },
  },
});
