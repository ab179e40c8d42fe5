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
  /** A sub-workflow, with so many attempts if it fails. A detached one goes on as so many runs. */
  | ({ readonly kind: "child"; readonly isDetached: boolean; readonly attempts: number; readonly runs: number } & Inside)
  | ({ readonly kind: "map"; readonly items: number; readonly concurrency: number } & Inside);

/** A program that runs inside a node. */
interface Inside {
  readonly id: string;
  readonly body: Program;
  /** The time limit of one run, in milliseconds; a run that takes longer fails. */
  readonly timeoutMs?: number;
}

/** The planned decisions about a step that has failed permanently. */
export const incidentPlans = ["skip", "retry", "fail"] as const;
type IncidentPlan = (typeof incidentPlans)[number];

/** The limits of a random program. */
interface Size {
  /** The largest depth of the tree. */
  readonly depth: number;
  /** The largest number of parts of a sequence. */
  readonly parts: number;
  /** Whether it may contain children. */
  readonly hasChildren: boolean;
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
  const id = `${kind}${ids()}`;
  const body = (hasChildren = size.hasChildren): Program => randomProgram(random, { depth: size.depth - 1, parts: 2, hasChildren }, ids);
  switch (kind) {
    case "flaky": {
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
      return { kind, id, times: random.between(1, 3), body: body(false) };
    case "child":
      return {
        ...{ kind, id, isDetached: random.chance(0.6), body: body(false), attempts: random.fork(`attempts ${id}`).between(1, 2) },
        runs: randomRuns(random.fork(`runs ${id}`)),
        ...randomTimeout(random.fork(`timeout ${id}`)),
      };
    case "map":
      return {
        ...{ kind, id, items: random.between(1, 3), concurrency: random.between(1, 3), body: body(false) },
        ...randomTimeout(random.fork(`timeout ${id}`)),
      };
    default:
      return { kind, id };
  }
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
