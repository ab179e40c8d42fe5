import { expect, it } from "vitest";
import { commandFor, readArguments } from "./arguments.ts";

it("runs 2,000 schedules from seed 1 on, if nothing else is said", () => {
  expect(readArguments([])).toEqual({ family: null, schedules: 2_000, days: 1, seed: 1, mutants: false, only: null, options: {} });
});

it("reads the command that it tells for a failure", () => {
  const options = {
    chance: 3,
    mode: "liveness",
    faults: ["crash", "skew"],
    faultsUntilMs: 750,
    clients: [0, 2],
    wakeUps: "store",
    otherWorkers: false,
  } as const;
  const words = commandFor({ seed: 42, ...options }, "lives")
    .split(" ")
    .slice(4)
    .map((word) => word.replaceAll('"', ""));
  expect(readArguments(words)).toEqual({ schedules: 1, family: "lives", days: 0, seed: 42, mutants: false, only: null, options });
});

it("reads that nothing is to fail", () => {
  expect(readArguments(["--faults", ""]).options).toEqual({ faults: [] });
});

it("tries one mutant only", () => {
  expect(readArguments(["--only", "stale-load"])).toMatchObject({ mutants: true, only: "stale-load" });
});

it.each([
  [["--mode", "sometimes"], "--mode must be one of liveness, safety, faultFree"],
  [["--faults", "crash,fire"], '--faults must be one of crash, restart, .*, not "fire"'],
  [["--seed", "one"], '--seed must be a whole number, not "one"'],
])("says what is wrong with %s", (args, message) => {
  expect(() => readArguments(args)).toThrow(new RegExp(message));
});
