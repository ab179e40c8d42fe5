import { describe, expectTypeOf, it } from "vitest";
import type { Run } from "./handle/run.ts";
import type { Runtime } from "./runtime.ts";

declare const runtime: Runtime;
declare const run: Run;

/** What the compiler makes of an imported JSON file. */
declare const imported: {
  id: string;
  nodes: (
    | { id: string; type: string; data: { a: number }; retryPolicy: { maxAttempts: number; interval: string; backoff: string } }
    | { id: string; type: string }
  )[];
  edges: { source: string; target: string }[];
  onFailure: string;
};

const linear = { id: "n", type: "noop", retryPolicy: { maxAttempts: 3, interval: "1s", backoff: "linear" } } as const;

describe("USE 14: a definition that was imported from a JSON file", () => {
  it("is taken wherever a definition is", () => {
    expectTypeOf(runtime.start(imported, { input: 1 })).resolves.toEqualTypeOf<Run>();
    expectTypeOf(runtime.adopt(imported, {}, { tenant: "t" })).resolves.toEqualTypeOf<Run>();
    expectTypeOf(run.fork({ definition: imported, version: 3 })).resolves.toEqualTypeOf<Run>();
    expectTypeOf(run.restart({ definition: imported, keys: "new" })).toBeObject();
    expectTypeOf(run.planFork({ definition: imported })).toBeObject();
    expectTypeOf(run.planRestart({ definition: imported })).toBeObject();
  });

  it("does not take away that a definition in code is checked", () => {
    runtime.start("order");
    runtime.start({
      id: "a",
      nodes: [{ id: "n", type: "noop", retryPolicy: { maxAttempts: 3, interval: "1s", backoff: "fixed" } }],
      edges: [],
    });
    // @ts-expect-error there is no such backoff
    runtime.start({ id: "a", nodes: [linear], edges: [] });
    // @ts-expect-error a workflow has no such member
    runtime.start({ id: "a", nodes: [], edges: [], onFailur: "stop" });
    // @ts-expect-error there is no such option
    runtime.start(imported, { inputs: 1 });
    // @ts-expect-error it has no nodes
    runtime.start({ id: "a", edges: [] });
    run.restart();
    run.fork({ definition: "order" });
    // @ts-expect-error there is no such backoff
    run.restart({ definition: { id: "a", nodes: [linear], edges: [] } });
    // @ts-expect-error there is no such option
    run.fork({ definition: imported, versions: 3 });
  });
});
