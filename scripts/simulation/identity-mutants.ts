import type { CodeMutant } from "./mutant.ts";

const faultFree = { mode: "faultFree", faults: [] } as const;

/** Mistakes about the one id of an execution: with its runs, its restarts, and the executions that it waits for. */
export const identityMutants: readonly CodeMutant[] = [
  {
    // ids of waits and idempotency keys repeat in each run
    name: "every-run-begins-at-the-same-path",
    caughtBy: ["I23"],
    options: faultFree,
    patches: [{ file: "core/transition/begin-run.ts", find: "id: String(run - 1) };", put: 'id: "0" };' }],
  },
  {
    name: "run-begins-without-checkpoint",
    caughtBy: ["I22"],
    options: faultFree,
    patches: [{ file: "runtime/context/make-commit.ts", find: "(begins || (", put: "((" }],
  },
  {
    name: "every-run-may-start-as-many-executions",
    caughtBy: ["I22"],
    options: faultFree,
    patches: [
      { file: "core/transition/begin-run.ts", find: "  draft.descendants = descendants;", put: "  draft.descendants = 0 * descendants;" },
    ],
  },
  {
    // the payload of a kept signal is said to lie where it does not
    name: "signals-are-carried-as-references",
    caughtBy: ["I10", "I7", "script"],
    patches: [
      {
        file: "core/transition/begin-run.ts",
        find: 'referring(signal, at, "payload")',
        put: 'referring(signal, at.replace("in", "out"), "payload")',
      },
    ],
  },
  {
    name: "keys-of-answers-are-forgotten-with-a-run",
    caughtBy: ["I5b"],
    options: faultFree,
    patches: [{ file: "core/transition/begin-run.ts", find: "  draft.begun = [];", put: "  draft.begun = [];\n  draft.answered = [];" }],
  },
  {
    name: "no-cancellation-after-the-first-run",
    firstSeed: 600,
    caughtBy: ["I6", "I24", "script"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/events/path-events.ts",
        find: "if (!isChild(scope) && scope.root.closing) return false;",
        put: "if (!isChild(scope) && (scope.root.closing || scope.root.run)) return false;",
      },
    ],
  },
  {
    // a parent that does not wait any more leaves alone a child that has gone on meanwhile
    name: "cancellation-by-the-parent-misses-a-later-run",
    firstSeed: 600,
    caughtBy: ["I24"],
    options: faultFree,
    patches: [
      {
        file: "runtime/delivery/deliver-outbox.ts",
        find: '    await delivery.command(to, { type: "cancel", reason, parent: own });',
        put: '    if (!(await delivery.context.store.loadHead(to))?.run) await delivery.command(to, { type: "cancel", reason, parent: own });',
      },
    ],
  },
  {
    name: "restart-does-not-list-its-waits",
    caughtBy: ["I10"],
    options: faultFree,
    patches: [{ file: "core/transition/restart-run.ts", find: "  draft.listedWaits = null;\n", put: "" }],
  },
  {
    name: "restart-does-not-write-its-children",
    caughtBy: ["I10"],
    options: faultFree,
    patches: [
      { file: "core/transition/restart-run.ts", find: "  for (const key of draft.children.keys()) draft.changed.add(key);\n", put: "" },
    ],
  },
  {
    name: "visit-is-kept-for-a-deleted-child",
    caughtBy: ["I23", "I10", "I7"],
    options: faultFree,
    patches: [
      {
        file: "core/restart/restart-state.ts",
        find: '    const isNewVisit = waits!.some(({ kind }) => kind === "child");',
        put: "    const isNewVisit = false as boolean;",
      },
    ],
  },
  {
    name: "adoption-ends-a-child-that-runs",
    caughtBy: ["I24", "I7", "script", "I10"],
    options: faultFree,
    patches: [{ file: "runtime/delivery/adopt-child.ts", find: "  if (status === null) return;\n", put: "" }],
  },
  {
    name: "adoption-is-not-sent",
    firstSeed: 600,
    caughtBy: ["I7", "I24"],
    options: faultFree,
    patches: [
      { file: "core/restart/restart-state.ts", find: "...(adopts.length > 0 && { outbox:", put: "...(adopts.length < 0 && { outbox:" },
    ],
  },
  {
    name: "restart-counts-each-time-under-one-key",
    family: "lives",
    caughtBy: ["I22"],
    options: faultFree,
    patches: [
      {
        file: "runtime/delivery/restart-execution.ts",
        find: "const isRepeated = key !== undefined &&",
        put: "const isRepeated = key === undefined &&",
      },
    ],
  },
  {
    // a start that is repeated after the execution has gone on is refused
    name: "start-is-compared-with-the-present-run",
    caughtBy: ["script"],
    options: { mode: "liveness", faults: ["crash"] },
    patches: [
      {
        file: "runtime/handle/start-run.ts",
        find: "  if (!existing.run && !existing.restarts) return existing;",
        put: "  if (existing) return existing;",
      },
    ],
  },
];
