import { definitionHash } from "../../packages/stepfold/src/core/definition/definition-hash.ts";
import type { Snapshot } from "../../packages/stepfold/src/core/snapshot/snapshot.ts";
import { workflowsOf } from "./graph.ts";
import { type Expected, either, expectedOf } from "./model.ts";
import type { Program } from "./program.ts";

/** What has to come of executions, by the hash of their definition. */
export function expectations(programs: Readonly<Record<string, Program>>): Map<string, Expected> {
  const expected = new Map<string, Expected>();
  for (const [id, program] of Object.entries(programs)) {
    const [own, ...detached] = workflowsOf(id, program);
    expected.set(definitionHash(own!), expectedOf(program));
    const bodies = detachedBodies(program);
    for (const definition of detached)
      expected.set(definitionHash(definition), expectedOf(bodies.get(definition.id.slice(id.length + 1))!));
  }
  return expected;
}

/** I10, I11: an execution that has completed has every result, once and in order; one that has not, the first of them. */
export function* wrongResults(
  { context, status, definition, output, from, error: failure }: Snapshot,
  expected: Expected | undefined,
  mayBeCancelled: boolean,
): Generator<string> {
  if (!expected) return yield `I10 it runs a definition that nobody knows: ${definition.hash}`;
  if (status === "completed" && expected.failsAt) yield `I10 it completed and should have failed at ${expected.failsAt}`;
  if (status === "failed" && !expected.failsAt) yield "I10 it failed and should have completed";
  if (status === "cancelled" && !mayBeCancelled) yield "I10 it was cancelled by nobody";
  if (status === "completed" && JSON.stringify(output) !== expected.results.get("end")?.at(-1))
    yield `I10 its output is ${JSON.stringify(output)}`;
  for (const nodeId of new Set([...Object.keys(context), ...expected.results.keys()])) {
    const results = (context[nodeId] ?? []).map(({ output: value, error }) => (error === undefined ? JSON.stringify(value) : null));
    const wanted = expected.results.get(nodeId) ?? [];
    // what failed has all its attempts again
    const counted = from?.reason === "restart" && wanted.includes(null) ? withFailuresOnce : everyOne;
    const there = counted(results);
    const all = counted(wanted);
    if (there.some((result, i) => result !== all[i] && all[i] !== either)) yield `I10 ${nodeId} has ${there}, not ${all}`;
    else if ((status === "completed" || (status === "failed" && failure?.nodeId === nodeId)) && there.length < all.length)
      yield `I11 ${nodeId} has ${there}, and ${all.slice(there.length)} is missing`;
  }
}

type Outputs = readonly (string | null)[];

const everyOne = (results: Outputs): Outputs => results;

function withFailuresOnce(results: Outputs): Outputs {
  return results.filter((result, i) => result !== null || results[i - 1] !== null);
}

/** Programs of the executions that a program starts, by the node that does. */
function detachedBodies(program: Program): Map<string, Program> {
  const bodies = new Map<string, Program>();
  const look = (part: Program): void => {
    if (part.kind === "child" && part.isDetached) bodies.set(part.id, part.body);
    if ("body" in part) look(part.body);
    for (const inner of "parts" in part ? part.parts : "branches" in part ? part.branches : "options" in part ? part.options : [])
      look(inner);
  };
  look(program);
  return bodies;
}
