import fc from "fast-check";
import type { Edge, WorkflowDefinition } from "../../src/core/definition/definition.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { hash32 } from "../../src/core/values/hash/seeded.ts";
import type { Json } from "../../src/core/values/json.ts";

/** What a node does at one attempt of one visit. */
type Act =
  | { readonly does: "complete"; readonly handles: readonly string[] | undefined; readonly vars?: Readonly<Record<string, Json>> }
  | { readonly does: "fail" }
  | { readonly does: "suspend"; readonly how: "external" | "timer" | "timeout" };

/** A random workflow. Its nodes do the same for the same path, visit and attempt, in whatever order they run. */
export interface RandomFlow {
  readonly definition: WorkflowDefinition;
  act(step: {
    readonly nodeId: string;
    readonly pathId: string;
    readonly visit: number;
    readonly attempt: number;
    readonly resumed: boolean;
  }): Act;
}

/** The largest number of attempts of every node. */
export const maxAttempts = 3;
const handleChoices: readonly (readonly string[] | undefined)[] = [
  undefined,
  undefined,
  undefined,
  ["x"],
  ["x", "y"],
  ["y", "x", "x"],
  ["", "x"],
  [],
];

/**
 * Makes graphs with forks, nodes that several edges lead to, cycles and self loops.
 *
 * @param calm true: nothing in the graphs depends on order or time, so no step fails for good, no wait times out, and every path ends
 */
export function randomFlow(calm: boolean): fc.Arbitrary<RandomFlow> {
  const size = fc.integer({ min: 1, max: 7 });
  return size.chain((n) => {
    const node = fc.integer({ min: 0, max: n - 1 });
    const edge = fc.tuple(node, node, fc.constantFrom(null, null, null, null, "x", "x", "y", "error", "timeout"));
    return fc.tuple(fc.array(edge, { minLength: 2 * n, maxLength: 4 * n }), fc.integer(), fc.boolean()).map(([drawn, seed, keeping]) => {
      const edges = drawn.map(([source, target, sourceHandle]): Edge => ({ source: `n${source}`, target: `n${target}`, sourceHandle }));
      const nodes = Array.from({ length: n }, (_, i) => ({
        id: `n${i}`,
        type: "random",
        retryPolicy: { maxAttempts, interval: 100, backoff: "exponential" as const, jitter: 0.3 },
        ...(keeping && !calm && i === 0 ? { keep: 2 } : {}),
      }));
      const variables = { sum: { initial: 0, reducer: "add" } };
      const definition: WorkflowDefinition = { id: "random", start: "n0", variables, nodes, edges };
      return { definition, act: actor(seed, calm), toString: () => JSON.stringify({ edges: drawn, seed, keeping, calm }) };
    });
  });
}

function actor(seed: number, calm: boolean): RandomFlow["act"] {
  return ({ nodeId, pathId, visit, attempt, resumed }) => {
    const dice = (what: string): number => hash32(`${seed}/${nodeId}/${pathId}#${visit}/${resumed ? "again" : attempt}/${what}`) / 2 ** 32;
    // forks inside loops would grow without end, so after a while every path ends
    const tired = visit > 6 || pathId.split(".").length > 2;
    if (!resumed && dice("suspend") < 0.2) {
      const how = dice("how");
      return { does: "suspend", how: how < 0.5 ? "external" : how < 0.8 || calm ? "timer" : "timeout" };
    }
    if (dice("fail") < 0.25 && (!calm || attempt < maxAttempts)) return { does: "fail" };
    const vars = dice("vars") < 0.5 && !calm ? { vars: { sum: visit, last: `${nodeId}/${pathId}#${visit}` } } : {};
    return { does: "complete", ...vars, handles: tired ? [] : handleChoices[Math.floor(dice("handles") * handleChoices.length)] };
  };
}

/** The parts of a snapshot that do not depend on the order of events: no versions, times or last output, and the results sorted. */
export function unordered({ status, context, activePaths, steps }: Snapshot): unknown {
  const sorted = (items: unknown[]): string[] => items.map((item) => JSON.stringify(item)).sort();
  return {
    status,
    steps,
    context: Object.fromEntries(
      Object.entries(context)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([nodeId, results]) => [
          nodeId,
          sorted(results.map(({ output, error, pathId, attempt }) => ({ output, error, pathId, attempt }))),
        ]),
    ),
    paths: sorted(
      activePaths.map(({ id, nodeId, status, turn, visit, attempts, forks, stepPath }) => ({
        id,
        nodeId,
        status,
        turn,
        visit,
        attempts,
        forks,
        stepPath,
      })),
    ),
  };
}

/** Picks items by the dice of a property, so that fast-check can repeat and shrink the run. */
export function picker(dice: readonly number[]): <T>(items: readonly T[]) => T {
  let thrown = 0;
  return (items) => items[Math.floor((dice[thrown++ % dice.length]! + thrown * 0.37) * 1_000) % items.length]!;
}
