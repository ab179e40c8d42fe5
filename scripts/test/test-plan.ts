import type { EffortName } from "./effort.ts";

/** The groups and arguments of one call of vitest: the projects of vitest.config.ts, and the arguments that are passed on. */
export interface TestPlan {
  readonly groups: readonly string[];
  readonly rest: readonly string[];
}

/** The groups in the order in which they run. */
const groupNames: readonly string[] = [
  "unit",
  "architecture",
  "patterns",
  "contract",
  "e2e",
  "studio",
  "mutants",
  "races",
  "kills",
  "simulation",
  "runtimes",
];
/**
 * The groups that `npm run storm` runs: those with far more repetitions (in `unit` the properties), the contract on every variant of a
 * store, and the pure parts on every runtime.
 */
const stormNames: readonly string[] = ["unit", "contract", "mutants", "races", "kills", "simulation", "runtimes"];

/**
 * Plans `npm test` (quick), `npm run test:all` (all) and `npm run storm`. `npm test` leaves out the pages in a browser. For the latter two the first arguments may be names of
 * groups; the other arguments are vitest's, such as parts of paths.
 */
export function testPlan(command: EffortName, args: readonly string[]): TestPlan {
  if (command === "quick") return { groups: groupNames.filter((name) => name !== "studio"), rest: args };
  const known = command === "storm" ? stormNames : groupNames;
  const other = args.findIndex((arg) => !known.includes(arg));
  const named = other < 0 ? args : args.slice(0, other);
  return { groups: named.length > 0 ? named : known, rest: args.slice(named.length) };
}
