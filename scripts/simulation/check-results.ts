import type { WorkflowDefinition } from "../../packages/stepfold/src/core/definition/definition.ts";
import { definitionHash } from "../../packages/stepfold/src/core/definition/definition-hash.ts";
import type { Event } from "../../packages/stepfold/src/core/snapshot/event.ts";
import { isTerminal, type Snapshot } from "../../packages/stepfold/src/core/snapshot/snapshot.ts";
import { lastStep, workflowsOf } from "./graph.ts";
import { type Expected, either, expectedOf } from "./model.ts";
import { type Frame, type Program, partsOf } from "./program.ts";

/** The expected results of an execution, and the time limit of its definition. */
interface Wanted extends Expected {
  readonly definition: WorkflowDefinition;
  readonly timeoutMs: number;
  /** Whether the workflow has nodes that run at its end (`finally`). */
  readonly hasLast: boolean;
}

/**
 * Returns the expected results of executions, by the hash of their definition.
 * @param frames the other parts of the workflows, by the ids of the programs
 * @param version the version of what is written as code
 */
export function expectations(
  programs: Readonly<Record<string, Program>>,
  frames: Readonly<Record<string, Frame>>,
  version?: string,
): Map<string, Wanted> {
  const expected = new Map<string, Wanted>();
  const add = (definition: WorkflowDefinition, program: Program, runs: number | undefined, isCode: boolean | undefined): void => {
    const { timeout = Number.POSITIVE_INFINITY } = definition;
    expected.set(definitionHash(definition), {
      ...expectedOf(program, runs, isCode),
      definition,
      timeoutMs: timeout as number,
      hasLast: definition.finally !== undefined,
    });
  };
  for (const [id, program] of Object.entries(programs)) {
    const [own, ...detached] = workflowsOf(id, program, frames[id], version);
    add(own!, program, frames[id]?.runs, frames[id]?.isCode);
    const children = detachedOf(program);
    for (const definition of detached) {
      const { body, runs, isCode } = children.get(definition.id.slice(id.length + 1))!;
      add(definition, body, runs, isCode);
    }
  }
  return expected;
}

/**
 * I8: an execution has the time limit of its definition, anew in each run and after a restart, or that of its start, whichever is less. The
 * limit of the start counts over all runs; a restart after it has passed counts it anew.
 */
export function* wrongDeadline(events: readonly Event[], expected: ReadonlyMap<string, Wanted>, givenMs: number): Generator<string> {
  let given = Number.POSITIVE_INFINITY;
  for (const event of events) {
    if (event.type !== "started" && event.type !== "continued" && event.type !== "restarted") continue;
    const { at, deadlineAt = Number.POSITIVE_INFINITY, definition } = event;
    const { timeoutMs } = expected.get(definition.hash) ?? {};
    if (timeoutMs === undefined) return;
    if (event.type === "started" || (event.type === "restarted" && given <= at)) given = at + givenMs;
    const wanted = Math.min(at + timeoutMs, given);
    if (deadlineAt !== wanted) yield `I8 after "${event.type}" it has to end by ${deadlineAt}, and not by ${wanted}`;
  }
}

/** I11: the nodes for the end have run once for each end of an execution in its present run, and never before. */
export function* wrongLast({ context, status, run }: Snapshot, events: readonly Event[], expected: Wanted | undefined): Generator<string> {
  const times = context[lastStep]?.length ?? 0;
  const restarts = events.filter(({ type, version }) => type === "restarted" && version > (run?.since ?? 0)).length;
  const wanted = expected?.hasLast && isTerminal(status) ? restarts + 1 : 0;
  // a fork has the results of its origin too
  const isFork = events[0]?.type === "started" && events[0].checkpoint !== undefined;
  if (isFork ? times < wanted : times !== wanted)
    yield `I11 what runs at the end has run ${times} times instead of ${wanted}, and it is ${status}`;
}

/**
 * I10, I11: an execution that has completed has every result, once and in order; any other execution has the first ones of these
 * results.
 */
export function* wrongResults(
  { context, status, definition, output, restarts = 0, from, error: failure, deadlineAt }: Snapshot,
  expected: Expected | undefined,
  mayBeCancelled: boolean,
): Generator<string> {
  if (!expected) return yield `I10 it runs a definition that nobody knows: ${definition.hash}`;
  if (status === "completed" && expected.failsAt) yield `I10 it completed and should have failed at ${expected.failsAt}`;
  if (status === "failed" && !expected.failsAt && !isDeletion(failure?.message) && !isLate(failure, expected, deadlineAt !== undefined))
    yield "I10 it failed and should have completed";
  if (status === "cancelled" && !mayBeCancelled) yield "I10 it was cancelled by nobody";
  if (status === "completed" && JSON.stringify(output) !== expected.results.get("end")?.at(-1))
    yield `I10 its output is ${JSON.stringify(output)}`;
  for (const nodeId of new Set([...Object.keys(context), ...expected.results.keys()])) {
    // the result of code is that of its scope
    if (nodeId === lastStep || nodeId === "pause" || nodeId === definition.id) continue;
    if (expected.limited.has(nodeId)) {
      const last = context[nodeId]?.at(-1);
      if (status === "completed" && last && JSON.stringify(last.output) !== expected.limited.get(nodeId))
        yield `I10 ${nodeId} has ${JSON.stringify(last)}, not ${expected.limited.get(nodeId)}`;
      continue;
    }
    const results = (context[nodeId] ?? [])
      .filter(({ error }) => !isDeletion(error))
      .map(({ output: value, error }) => (error === undefined ? JSON.stringify(value) : null));
    const wanted = expected.results.get(nodeId) ?? [];
    // after a restart, also one of the execution from which a fork comes, the node that failed has all its attempts again
    const counted = (restarts > 0 || from) && wanted.includes(null) ? withFailuresOnce : everyOne;
    const there = expected.unordered.has(nodeId) ? counted(results).toSorted() : counted(results);
    const all = expected.unordered.has(nodeId) ? inOrderOf(there, counted(wanted)) : counted(wanted);
    if (there.some((result, i) => result !== all[i] && all[i] !== either)) yield `I10 ${nodeId} has ${there}, not ${all}`;
    else if (expected.optional.has(nodeId)) continue;
    else if ((status === "completed" || (failure?.nodeId === nodeId && !isDeletion(failure.message))) && there.length < all.length)
      yield `I11 ${nodeId} has ${there}, and ${all.slice(there.length)} is missing`;
  }
}

/**
 * True if the execution failed because it exceeded its deadline, or because a sub-workflow or map with a time limit exceeded that
 * limit.
 */
function isLate(failure: Snapshot["error"], { limited }: Expected, hasDeadline: boolean): boolean {
  const isTimedOut = [failure?.code, failure?.cause?.code].includes("EXECUTION_TIMED_OUT");
  return isTimedOut && (failure!.nodeId === undefined ? hasDeadline : limited.has(failure!.nodeId));
}

type Outputs = readonly (string | null)[];

const everyOne = (results: Outputs): Outputs => results;

/** Puts the results that are there first, in their order. */
function inOrderOf(there: Outputs, all: Outputs): Outputs {
  return [...all].sort().sort((a, b) => Number(there.includes(b)) - Number(there.includes(a)));
}

function withFailuresOnce(results: Outputs): Outputs {
  return results.filter((result, i) => result !== null || results[i - 1] !== null);
}

/** Whether a step failed because somebody deleted the execution for which it had just gone on to wait after a restart. */
function isDeletion(error: string | undefined): boolean {
  return error?.startsWith("No execution ") === true;
}

/** I26: the step that won a race is the one that has the first result. */
export function* wrongRaces({ context }: Snapshot): Generator<string> {
  for (const [nodeId, results] of Object.entries(context)) {
    if (!nodeId.startsWith("race")) continue;
    const { winner, among } = results[0]!.output as { readonly winner: string; readonly among: readonly string[] };
    const versions = among.map((id) => context[id]?.[0]?.version ?? Number.POSITIVE_INFINITY);
    const first = among[versions.indexOf(Math.min(...versions))];
    if (first !== winner || results.length > 1) yield `I26 ${winner} has won ${nodeId}, and ${first} was first`;
  }
}

/** Returns the detached executions that a program starts, by the node that starts them. */
function detachedOf(program: Program): Map<string, Extract<Program, { kind: "child" }>> {
  const found = new Map<string, Extract<Program, { kind: "child" }>>();
  const look = (part: Program): void => {
    if (part.kind === "child" && part.isDetached) found.set(part.id, part);
    if ("body" in part) look(part.body);
    for (const inner of partsOf(part)) look(inner);
  };
  look(program);
  return found;
}
