import { goingOn, type Program } from "./program.ts";

/** Stands for a result that depends on whether the timer or an answer was first. */
export const either = "*";

/** The output of a step that was skipped. */
export const passedOver = "passed over";

/** The results of each node, in order; null for an attempt that failed. */
type Results = ReadonlyMap<string, readonly (string | null)[]>;

/** The results of a program if there are no faults, computed in one go without engine, store or time. */
export interface Expected {
  readonly results: Results;
  /** The node at which the program fails permanently; null if it completes. */
  readonly failsAt: string | null;
  /** Nodes whose sub-workflow or items have a time limit, with their output if they are in time; null if they fail anyway. */
  readonly limited: ReadonlyMap<string, string | null>;
  /** Nodes whose results need not be there, because nobody waits for them. */
  readonly optional: ReadonlySet<string>;
  /** Nodes whose results may come in any order. */
  readonly unordered: ReadonlySet<string>;
}

interface Run {
  readonly results: Map<string, (string | null)[]>;
  readonly limited: Map<string, string | null>;
  readonly optional: Set<string>;
  readonly unordered: Set<string>;
  readonly isCode: boolean;
  failsAt: string | null;
}

/** Computes the results of a program in the last of its runs; each run before has the same results, but for the last two steps. */
export function expectedOf(program: Program, runs = 1, isCode = false): Expected {
  const run: Run = { results: new Map(), limited: new Map(), optional: new Set(), unordered: new Set(), isCode, failsAt: null };
  go(run, program);
  if (!run.failsAt && runs > 1) produce(run, goingOn);
  if (!run.failsAt) produce(run, "end");
  return run;
}

function go(run: Run, program: Program): void {
  if (run.failsAt) return;
  switch (program.kind) {
    case "sequence":
      for (const part of program.parts) go(run, part);
      return;
    case "flaky":
      goFlaky(run, program);
      return;
    case "parallel":
      produce(run, program.id);
      // each branch runs as far as it can, even if another one fails
      for (const failure of program.branches.map((branch) => alone(run, branch))) run.failsAt ??= failure;
      if (!run.failsAt) produce(run, `${program.id}_join`);
      return;
    case "choice":
      produce(run, program.id);
      go(run, program.options[program.taken]!);
      return;
    case "loop":
      for (let time = 0; time < program.times; time++) {
        produce(run, program.id);
        go(run, program.body);
      }
      if (!run.failsAt) produce(run, program.id);
      return;
    case "deadline":
      list(run, program.id).push(either);
      return;
    case "child":
    case "map":
      goInside(run, program);
      return;
    case "race":
      for (const contender of program.contenders) {
        go(run, contender);
        run.optional.add(contender.id);
      }
      list(run, program.id).push(either);
      return;
    case "twins":
      produce(run, `${program.id}_first`);
      for (let step = 0; step < program.width * program.length; step++) produce(run, program.id);
      run.unordered.add(program.id);
      return;
    case "approve":
    case "signal":
    case "timer":
      // what code waits for gives it the answer
      if (run.isCode) list(run, program.id).push(either);
      else produce(run, program.id);
      return;
    default:
      produce(run, program.id);
  }
}

function alone(run: Run, program: Program): string | null {
  const branch: Run = { ...run, failsAt: null };
  go(branch, program);
  return branch.failsAt;
}

function goFlaky(run: Run, { id, failures, maxAttempts, isCaught, incident }: Extract<Program, { kind: "flaky" }>): void {
  const rounds = incident === "retry" ? 2 : 1;
  for (let attempt = 1; attempt <= rounds * Math.min(failures, maxAttempts); attempt++) list(run, id).push(null);
  // code gets the error of the step as the result of the decision
  if (run.isCode && incident === "fail") list(run, id).push(null);
  if (incident && incident !== "fail") list(run, id).push(JSON.stringify(passedOver));
  else if (maxAttempts > failures) produce(run, id);
  else if (!isCaught) run.failsAt = id;
}

function goInside(run: Run, { id, kind, ...program }: Extract<Program, { kind: "child" | "map" }>): void {
  const { failsAt, results } = expectedOf(program.body, 1, program.isCode);
  const output = JSON.parse(results.get("end")?.[0] ?? "null") as string | null;
  const whole = JSON.stringify("items" in program ? Array.from({ length: program.items }, () => output) : output);
  if (program.timeoutMs !== undefined) run.limited.set(id, failsAt ? null : whole);
  if (failsAt) {
    const attempts = "attempts" in program ? program.attempts : 1;
    for (let attempt = 1; attempt <= attempts; attempt++) list(run, id).push(null);
    run.failsAt = id;
  } else list(run, id).push(whole);
}

/** Adds a result: the node's id and the number of its results. */
function produce(run: Run, id: string): void {
  const results = list(run, id);
  results.push(JSON.stringify(`${id}#${results.filter((result) => result !== null).length + 1}`));
}

function list({ results }: Run, id: string): (string | null)[] {
  const known = results.get(id) ?? [];
  results.set(id, known);
  return known;
}
