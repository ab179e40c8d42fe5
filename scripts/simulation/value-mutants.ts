import type { CodeMutant } from "./mutant.ts";

const faultFree = { mode: "faultFree", faults: [] } as const;

/** Mistakes with variables, and with the notices of a feed. */
export const valueMutants: readonly CodeMutant[] = [
  {
    name: "variables-are-reduced-as-they-were-read",
    firstSeed: 9,
    caughtBy: ["I20"],
    options: faultFree,
    patches: [
      {
        file: "engine/attempt/reduce-variables.ts",
        find: "  const before = variablesAt(scope, root.version);",
        put: "  const before = variablesAt(scope, scope.paths.find(({ node }) => node.node.id === nodeId)?.since ?? root.version);",
      },
    ],
  },
  {
    name: "variables-are-read-as-they-are",
    firstSeed: 9,
    caughtBy: ["I20"],
    options: faultFree,
    patches: [
      {
        file: "engine/attempt/step.ts",
        find: "variablesAt(this.#scopeDraft, this.#task.since)",
        put: "variablesAt(this.#scopeDraft, this.#scopeDraft.root.version)",
      },
    ],
  },
  {
    name: "variables-of-a-child-are-those-of-the-execution",
    firstSeed: 9,
    caughtBy: ["I20"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/events/step-events.ts",
        find: "setVariables(scope, event, version)",
        put: "setVariables(scope.root, event, version)",
      },
    ],
  },
  {
    name: "outer-variables-are-read-as-they-are",
    caughtBy: ["I20"],
    firstSeed: 189,
    options: faultFree,
    patches: [
      {
        file: "core/transition/draft/draft.ts",
        find: "    version = waitingPathOf(current)?.since ?? version;",
        put: "    version = waitingPathOf(current) ? scope.root.version : version;",
      },
    ],
  },
  {
    name: "older-values-of-variables-are-forgotten",
    firstSeed: 26,
    caughtBy: ["I20"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/draft/draft-variables.ts",
        find: "    scope.paths.map(({ since }) => since),",
        put: "    scope.paths.slice(0, 0).map(({ since }) => since),",
      },
    ],
  },
  {
    name: "fork-without-variables",
    firstSeed: 14,
    caughtBy: ["I20"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/take-checkpoint.ts",
        find: "    ...(snapshot.variables && { variables: movedVariables(snapshot.variables, base) }),",
        put: "    ...(snapshot.variables && base < 0 && { variables: movedVariables(snapshot.variables, base) }),",
      },
    ],
  },
  {
    name: "variables-are-reduced-once-more-after-a-conflict",
    firstSeed: 9,
    caughtBy: ["I20"],
    options: faultFree,
    patches: [
      {
        file: "engine/attempt/reduce-variables.ts",
        find: "    return withVariables(limits, scope, task.nodeId, completed, writes);",
        put: `    reduced.set(writes, (reduced.get(writes) ?? 0) + 1);
    const first = withVariables(limits, scope, task.nodeId, completed, writes);
    if (reduced.get(writes) === 1) return first;
    return withVariables(limits, scope, task.nodeId, completed, { ...writes, total: 2 });`,
      },
      {
        file: "engine/attempt/reduce-variables.ts",
        find: "type Counted = Exclude<",
        put: "const reduced = new WeakMap();\ntype Counted = Exclude<",
      },
    ],
  },
  {
    // once the feed has sent a notice, the process neither polls nor checks all executions after a reconnection, so it waits forever for
    // a lost notice
    name: "feed-is-trusted",
    caughtBy: ["I7"],
    options: faultFree,
    patches: [
      {
        file: "runtime/context/head-polls.ts",
        find: "        for (const workflowId of this.#watchers.keys()) if (!this.#inFlight.has(workflowId)) this.#read(workflowId);",
        put: "        for (const workflowId of this.#watchers.keys()) if (this.#hintsFrom < 0 && !this.#inFlight.has(workflowId)) this.#read(workflowId);",
      },
      { file: "runtime/context/runtime-context.ts", find: "missed: () => headPolls.hintAll()", put: "missed: () => undefined" },
    ],
  },
];
