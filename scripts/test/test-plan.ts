import { readdirSync, readFileSync } from "node:fs";
import { root } from "../public-entries.ts";
import type { EffortName } from "./effort.ts";

/** One call of vitest. */
export interface TestRun {
  readonly name: string;
  readonly effort: EffortName;
  readonly projects: readonly string[];
  /** Only these files of the projects; all without. */
  readonly files?: readonly string[];
}

/** What a command runs, and the arguments left for vitest. */
export interface TestPlan {
  readonly runs: readonly TestRun[];
  readonly rest: readonly string[];
}

const without = ["unit", "architecture", "e2e"];
const apart = ["patterns", "contract", "races", "kills", "simulation"];

/** What `npm run test:all` adds, in groups that can run alone: `npm run test:all -- kills`. */
export const groupNames: readonly string[] = ["quick", "properties", "servers", ...apart];
/** What `npm run storm` repeats far more often. */
const stormNames: readonly string[] = ["properties", "races", "kills", "simulation"];

/**
 * Plans `npm test` (quick), `npm run test:all` (all) and `npm run storm`. The first arguments may name groups of the latter two;
 * the others are vitest's, such as parts of paths.
 */
export function testPlan(command: EffortName, args: readonly string[]): TestPlan {
  if (command === "quick") return { runs: [{ name: "quick", effort: "quick", projects: [...without, ...apart] }], rest: args };
  const known = command === "storm" ? stormNames : groupNames;
  const other = args.findIndex((arg) => !known.includes(arg));
  const named = other < 0 ? args : args.slice(0, other);
  const rest = args.slice(named.length);
  return { runs: (named.length > 0 ? named : known).map((name) => groupOf(name, command)), rest };
}

function groupOf(name: string, effort: EffortName): TestRun {
  // what the groups after it run with more effort is left out here
  if (name === "quick") return { name, effort: "quick", projects: without };
  if (name === "properties") return { name, effort, projects: ["unit"], files: testsThatMention("packages", /\/test\/effort\.ts"/) };
  if (name === "servers") return { name, effort, projects: ["e2e"], files: testsThatMention("e2e", /\/service-url\.ts"/) };
  return { name, effort, projects: [name] };
}

/** Test files below a folder whose text matches. */
function testsThatMention(folder: string, text: RegExp): string[] {
  const paths = readdirSync(`${root}/${folder}`, { recursive: true, encoding: "utf8" }).map(
    (path) => `${folder}/${path.replaceAll("\\", "/")}`,
  );
  const tests = paths.filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules/"));
  return tests.filter((path) => text.test(readFileSync(`${root}/${path}`, "utf8"))).sort();
}
