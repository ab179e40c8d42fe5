import { defineConfig } from "vitest/config";
import { library, publicEntries } from "./scripts/public-entries.ts";

/** Tests read the sources, by the names that users import. */
const alias = publicEntries().map(({ name, source }) => ({ find: new RegExp(`^${name}$`), replacement: `${library}/${source.slice(2)}` }));

const races = ["e2e/racing-*.test.ts"];
const kills = ["e2e/{clock-jumps,disk-full,kill9,kill9-storm,proxy,restarts,zombies}.test.ts"];
const simulation = ["e2e/simulation.test.ts"];

/** What tests have in common that start processes; the order says after which others they run. */
function processes(groupOrder: number): { sequence: { groupOrder: number }; testTimeout: number; hookTimeout: number } {
  return { sequence: { groupOrder }, testTimeout: 120_000, hookTimeout: 60_000 };
}

export default defineConfig({
  resolve: { alias },
  test: {
    maxWorkers: "100%",
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/{src,test}/**/*.test.ts"],
          exclude: ["**/*.contract.test.ts"],
          setupFiles: ["scripts/test/seed.ts"],
          // files share what they import: loading the library again for each would take two thirds of the time
          pool: "threads",
          isolate: false,
          testTimeout: 30_000,
        },
      },
      // on real servers: see scripts/services. What they do takes its time, and cases wait for one another
      {
        extends: true,
        test: {
          name: "contract",
          sequence: { groupOrder: 1 },
          include: ["packages/*/{src,test}/**/*.contract.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          maxConcurrency: 1_000,
        },
      },
      { extends: true, test: { name: "patterns", include: ["patterns/**/*.test.ts"], testTimeout: 180_000 } },
      { extends: true, test: { name: "architecture", include: ["scripts/**/*.test.ts"], testTimeout: 30_000 } },
      // real processes, one group after the other: real time and real leases are not to run out because others keep the processors busy
      {
        extends: true,
        test: { name: "e2e", include: ["{e2e,examples}/**/*.test.ts"], exclude: [...races, ...kills, ...simulation], ...processes(2) },
      },
      { extends: true, test: { name: "races", include: races, ...processes(3) } },
      { extends: true, test: { name: "kills", include: kills, ...processes(4) } },
      { extends: true, test: { name: "simulation", include: simulation, ...processes(5) } },
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
