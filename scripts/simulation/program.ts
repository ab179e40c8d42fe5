import type { Random } from "../../packages/stepfold/src/testing/simulation/random.ts";

/** The behaviour of a workflow of the simulation, as a tree. The graph and the expected results are made from it. */
export type Program =
  | { readonly kind: "step"; readonly id: string }
  /**
   * Fails so many times before it succeeds. With too few attempts it leaves by the edge `error`, if there is one. A step with an
   * incident then waits for the planned decision; with `retry` it fails again in another round, and is skipped after that.
   */
  | {
      readonly kind: "flaky";
      readonly id: string;
      readonly failures: number;
      readonly maxAttempts: number;
      readonly isCaught: boolean;
      readonly incident?: IncidentPlan;
    }
  | { readonly kind: "approve"; readonly id: string }
  /** Like `approve`, with a time after which it goes on without an answer. */
  | { readonly kind: "deadline"; readonly id: string; readonly ms: number }
  | { readonly kind: "signal"; readonly id: string }
  | { readonly kind: "timer"; readonly id: string; readonly ms: number }
  | { readonly kind: "sequence"; readonly parts: readonly Program[] }
  | { readonly kind: "parallel"; readonly id: string; readonly branches: readonly Program[] }
  | { readonly kind: "choice"; readonly id: string; readonly taken: number; readonly options: readonly Program[] }
  | { readonly kind: "loop"; readonly id: string; readonly times: number; readonly body: Program }
  /** Steps of which the code waits for the first one, and keeps its id. Only in code. */
  | { readonly kind: "race"; readonly id: string; readonly contenders: readonly (Program & { readonly id: string })[] }
  /** So many coroutines that each ask for so many steps, all under one id. Only in code. */
  | { readonly kind: "twins"; readonly id: string; readonly width: number; readonly length: number }
  /** A sub-workflow, with so many attempts if it fails. A detached one goes on as so many runs. */
  | ({ readonly kind: "child"; readonly isDetached: boolean; readonly attempts: number; readonly runs: number } & Inside)
  | ({ readonly kind: "map"; readonly items: number; readonly concurrency: number } & Inside);

/** A program that runs inside a node. */
interface Inside {
  readonly id: string;
  readonly body: Program;
  /** The time limit of one run, in milliseconds; a run that takes longer fails. */
  readonly timeoutMs?: number;
  /** True if it is written as code, and not as a graph. */
  readonly isCode?: boolean;
}

/** The parts of a workflow besides its program. */
export interface Frame {
  readonly timeoutMs?: number;
  /** The number of its runs. Default: 1. */
  readonly runs?: number;
  /** Whether a timer and a step run at its end. */
  readonly hasLast?: boolean;
  readonly taskQueue?: string | undefined;
  /** Whether it is written as code. Default: it is a graph. */
  readonly isCode?: boolean | undefined;
}

/** The id of the step that ends each run but the last one. */
export const goingOn = "more";

/** The planned decisions about a step that has failed permanently. */
export const incidentPlans = ["skip", "retry", "fail"] as const;
type IncidentPlan = (typeof incidentPlans)[number];

/** Returns the parts of a program that run in the same scope. */
export function partsOf(program: Program): readonly Program[] {
  if (program.kind === "sequence") return program.parts;
  if (program.kind === "parallel") return program.branches;
  if (program.kind === "choice") return program.options;
  if (program.kind === "race") return program.contenders;
  return program.kind === "loop" ? [program.body] : [];
}

/** The limits of a random program. */
interface Size {
  /** The largest depth of the tree. */
  readonly depth: number;
  /** The largest number of parts of a sequence. */
  readonly parts: number;
  /** Whether it may contain children. */
  readonly hasChildren: boolean;
  /** Whether it is written as code, and contains programs that are. Default: everything is a graph. */
  readonly isCode?: boolean | undefined;
  /** Whether it runs once, and not in a loop. Default: true. */
  readonly isOnce?: boolean | undefined;
}

/** Returns a random program. The ids count up over the whole program. */
export function randomProgram(
  random: Random,
  size: Size = { depth: 3, parts: 4, hasChildren: true },
  ids: () => string = counting(),
): Program {
  const parts = Array.from({ length: random.between(1, size.parts) }, () => randomPart(random, size, ids));
  return { kind: "sequence", parts };
}

function randomPart(random: Random, size: Size, ids: () => string): Program {
  const kinds = ["step", "step", "flaky", "approve", "deadline", "signal", "timer"] as const;
  const nested = ["parallel", "parallel", "choice", "loop", ...(size.hasChildren ? (["child", "map"] as const) : [])] as const;
  const kind = size.depth > 1 && random.chance(0.4) ? random.pick(nested) : random.pick(kinds);
  if (size.isCode && random.chance(0.2)) return randomConcurrency(random, size, ids);
  const id = `${kind}${ids()}`;
  const body = (hasChildren = size.hasChildren, changes: Partial<Size> = {}): Program =>
    randomProgram(random, { ...size, depth: size.depth - 1, parts: 2, hasChildren, ...changes }, ids);
  /** The body of a workflow of its own, which is a graph in half of the cases. */
  const inside = (hasChildren?: boolean): Pick<Extract<Program, { kind: "map" }>, "body" | "isCode"> => {
    if (size.isCode === undefined) return { body: body(hasChildren) };
    const isCode = random.chance(0.5);
    return { body: body(hasChildren, { isCode, isOnce: true }), isCode };
  };
  switch (kind) {
    case "flaky":
      return randomFlaky(random, id);
    case "timer":
    case "deadline":
      return { kind, id, ms: random.between(100, 4_000) };
    case "parallel":
      return { kind, id, branches: Array.from({ length: random.between(2, 3) }, () => body()) };
    case "choice": {
      const options = [body(), body()];
      return { kind, id, taken: random.between(0, 1), options };
    }
    case "loop":
      return { kind, id, times: random.between(1, 3), body: body(false, { isOnce: false }) };
    case "child":
      return {
        ...{ kind, id, isDetached: random.chance(0.6), ...inside(false), attempts: random.fork(`attempts ${id}`).between(1, 2) },
        runs: randomRuns(random.fork(`runs ${id}`)),
        ...randomTimeout(random.fork(`timeout ${id}`)),
      };
    case "map":
      return {
        ...{ kind, id, items: random.between(1, 3), concurrency: random.between(1, 3), ...inside(false) },
        ...randomTimeout(random.fork(`timeout ${id}`)),
      };
    default:
      return { kind, id };
  }
}

function randomFlaky(random: Random, id: string): Program {
  const kind = "flaky";
  const failures = random.between(1, 3);
  const succeeds = random.chance(0.8);
  const maxAttempts = succeeds ? failures + random.between(1, 2) : failures;
  const isCaught = random.chance(0.5);
  // separate random numbers, so that the programs of older seeds stay the same
  const decided = random.fork(`incident ${id}`);
  const hasIncident = !succeeds && !isCaught && decided.chance(0.6);
  if (!hasIncident) return { kind, id, failures, maxAttempts, isCaught };
  const incident = decided.pick(incidentPlans);
  // the id contains the decision, which the clients read there
  return { kind, id: `${id}_${incident}`, failures, maxAttempts, isCaught, incident };
}

/** Returns what only code can do: a race, whose losers nobody waits for, or coroutines that ask for steps under one name. */
function randomConcurrency(random: Random, { isOnce = true }: Size, ids: () => string): Program {
  const isRace = isOnce && random.chance(0.6);
  if (!isRace) return { kind: "twins", id: `twins${ids()}`, width: random.between(2, 3), length: random.between(1, 3) };
  const contenders = (["step", "approve", "signal", "timer"] as const)
    .filter(() => random.chance(0.6))
    .map((kind) => ({ kind, id: `${kind}${ids()}`, ms: random.between(100, 2_000) }));
  const last = { kind: "timer" as const, id: `timer${ids()}`, ms: random.between(100, 2_000) };
  return { kind: "race", id: `race${ids()}`, contenders: [...contenders, last] };
}

/** Returns a timeout in some cases: long enough for many executions to end before it, and short enough for others to exceed it. */
export function randomTimeout(random: Random): { readonly timeoutMs?: number } {
  return random.chance(0.25) ? { timeoutMs: random.between(500, 8_000) } : {};
}

/** Returns the number of runs of an execution, which goes on with `continueAs` after each but the last: one for most executions. */
export function randomRuns(random: Random): number {
  return random.chance(0.4) ? random.between(2, 4) : 1;
}

function counting(): () => string {
  let ids = 0;
  return () => `${++ids}`;
}
