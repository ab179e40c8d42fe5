import { chance, pick } from "./random-graph.fixture.ts";

/** A program of steps, as data: the reference model and durable code both run it. */
export type Program =
  | { readonly kind: "run"; readonly name: string; readonly maxAttempts: number }
  | { readonly kind: "wait" | "sleep"; readonly name: string }
  | { readonly kind: "throw"; readonly message: string }
  | { readonly kind: "sequence" | "all" | "race" | "any" | "settled"; readonly parts: readonly Program[] }
  | { readonly kind: "try"; readonly body: Program; readonly handler: Program }
  | { readonly kind: "repeat"; readonly times: number; readonly body: Program }
  /** Coroutines that wait for one step, and then ask for steps of their own, some of them much later than others. */
  | { readonly kind: "twins"; readonly first: Program; readonly bodies: readonly Program[] };

/** The names of steps; they repeat, so coroutines ask under one name. */
const names = ["a", "b", "c"] as const;
const groups = ["sequence", "all", "race", "any", "settled", "try", "repeat", "twins"] as const;

/** Returns a program; the same seed gives the same one. */
export function randomProgram(seed: number): Program {
  const random = chance(seed);
  const leaf = (): Program => {
    const drawn = random();
    if (drawn < 0.7) return { kind: "run", name: pick(random, names), maxAttempts: random() < 0.3 ? 2 : 1 };
    if (drawn < 0.82) return { kind: "wait", name: pick(random, ["ask", "tell"]) };
    if (drawn < 0.95) return { kind: "sleep", name: "nap" };
    // every part asks for a step before it ends, so that nothing but results decides what comes first
    return {
      kind: "sequence",
      parts: [
        { kind: "run", name: "a", maxAttempts: 1 },
        { kind: "throw", message: "the code fails" },
      ],
    };
  };
  const several = (depth: number): Program[] => Array.from({ length: 2 + Math.floor(random() * 2) }, () => program(depth));
  const program = (depth: number): Program => {
    if (depth === 0 || random() < 0.2) return leaf();
    const kind = pick(random, groups);
    switch (kind) {
      case "try":
        return { kind, body: program(depth - 1), handler: program(depth - 1) };
      case "repeat":
        return { kind, times: 1 + Math.floor(random() * 2), body: program(depth - 1) };
      case "twins":
        return { kind, first: leaf(), bodies: several(depth - 1) };
      default:
        return { kind, parts: several(depth - 1) };
    }
  };
  return { kind: "sequence", parts: [program(3), program(2)] };
}
