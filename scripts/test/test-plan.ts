import type { EffortName } from "./effort.ts";

/** What a command runs with one call of vitest: the projects of vitest.config.ts, and arguments that are left for it. */
export interface TestPlan {
  readonly groups: readonly string[];
  readonly rest: readonly string[];
}

/** In the order in which they run. */
const groupNames: readonly string[] = [
  "unit",
  "architecture",
  "patterns",
  "contract",
  "e2e",
  "mutants",
  "races",
  "kills",
  "simulation",
  "runtimes",
];
/** What `npm run storm` repeats far more often, in `unit` the properties; and the contract on every form of a store, the pure parts on every runtime. */
const stormNames: readonly string[] = ["unit", "contract", "mutants", "races", "kills", "simulation", "runtimes"];

/**
 * Plans `npm test` (quick), `npm run test:all` (all) and `npm run storm`. The first arguments may name groups of the latter two;
 * the others are vitest's, such as parts of paths.
 */
export function testPlan(command: EffortName, args: readonly string[]): TestPlan {
  if (command === "quick") return { groups: groupNames, rest: args };
  const known = command === "storm" ? stormNames : groupNames;
  const other = args.findIndex((arg) => !known.includes(arg));
  const named = other < 0 ? args : args.slice(0, other);
  return { groups: named.length > 0 ? named : known, rest: args.slice(named.length) };
}
