import type { CodeMutant } from "./mutant.ts";

const faultFree = { mode: "faultFree", faults: [] } as const;

/** Mistakes with workflows that are written as code. */
export const durableMutants: readonly CodeMutant[] = [
  {
    name: "code-gets-results-before-the-commit",
    family: "code",
    caughtBy: ["I27"],
    options: faultFree,
    patches: [
      {
        file: "engine/code/code-run.ts",
        find: "    if (scope) this.#uncommitted.push(...givenBy(event, draft, scope, this.pathId));",
        put: "    if (scope) this.#enqueue(givenBy(event, draft, scope, this.pathId));",
      },
    ],
  },
  {
    // the code asks for its next steps while the results of those before are being stored, and they are begun at once
    name: "steps-of-code-begin-before-the-commit",
    family: "code",
    caughtBy: ["I27"],
    options: faultFree,
    patches: [
      {
        file: "engine/code/code-run.ts",
        find: "    if (scope) this.#uncommitted.push(...givenBy(event, draft, scope, this.pathId));",
        put: "    if (scope) this.#enqueue(givenBy(event, draft, scope, this.pathId));",
      },
      {
        file: "engine/turn.ts",
        find: "      const stored = await commit!(pending, this.draft, last);",
        put: "      const storing = commit!(pending, this.draft, last);\n      for (let i = 0; i < 200; i++) await null;\n      await nextMacrotask();\n      if (this.#codes) this.#beginCode(new Set(), this.#options.now());\n      const stored = await storing;",
      },
      {
        file: "engine/turn.ts",
        find: "import { Breaks, News } from",
        put: "import { Breaks, News, nextMacrotask } from",
      },
    ],
  },
  {
    name: "code-gets-the-latest-result-first",
    family: "code",
    caughtBy: ["I26", "I27"],
    options: faultFree,
    patches: [
      {
        file: "engine/code/journal.ts",
        find: "  return [...last.values()].sort((a, b) => a.result.version - b.result.version);",
        put: "  return [...last.values()].sort((a, b) => b.result.version - a.result.version);",
      },
    ],
  },
  {
    name: "code-gets-results-while-it-runs",
    family: "code",
    caughtBy: ["I26"],
    patches: [{ file: "engine/code/code-run.ts", find: "    this.#hasRested = false;", put: "    this.#hasRested = true;" }],
  },
  {
    name: "failed-attempts-are-remembered",
    family: "code",
    caughtBy: ["I26", "I27", "I10", "script"],
    options: faultFree,
    patches: [
      {
        file: "engine/code/journal.ts",
        find: "      const number = result.version > after && !open.has(result.pathId) ? numberOfStep(codePathId, result.pathId) : null;",
        put: "      const number = result.version > after && open ? numberOfStep(codePathId, result.pathId) : null;",
      },
      {
        file: "engine/code/journal.ts",
        find: "    if (number !== null && !scope.paths.some(({ id }) => id === result.pathId)) given.push({ number, nodeId, result });",
        put: "    if (number !== null) given.push({ number, nodeId, result });",
      },
    ],
  },
  {
    name: "no-result-wakes-the-code",
    family: "code",
    caughtBy: ["I7", "script"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/code/code-path.ts",
        find: '  if (code?.status === "suspended" && !code.waits) code.status = "ready";',
        put: '  if (code?.status === "retrying" && !code.waits) code.status = "ready";',
      },
    ],
  },
  {
    name: "results-of-others-are-lost",
    family: "code",
    caughtBy: ["I7", "I26", "script", "I27"],
    patches: [
      {
        file: "engine/code/code-run.ts",
        find: "    if (scope) this.#enqueue(journalOf(scope, this.pathId, this.#version));",
        put: "    if (scope) this.#enqueue(journalOf(scope, this.pathId, draft.version));",
      },
    ],
  },
  {
    name: "void-results-are-kept",
    family: "code",
    caughtBy: ["I26", "I27"],
    patches: [
      {
        file: "engine/code/code-run.ts",
        find: "  continueFrom(draft: Draft): void {\n    this.#uncommitted = [];",
        put: "  continueFrom(draft: Draft): void {",
      },
    ],
  },
  {
    // nothing is known of a step before its first event, so it looks as if its path had ended
    name: "steps-of-code-are-aborted-before-their-first-event",
    family: "code",
    caughtBy: ["I12", "I26", "I7", "script", "I4", "I14"],
    options: faultFree,
    patches: [
      {
        file: "engine/running-tasks.ts",
        find: "isFirstOfStep(scope, task);",
        put: "isFirstOfStep(scope, { ...task, turn: -1 });",
      },
    ],
  },
  {
    name: "code-takes-the-places-of-its-steps",
    family: "code",
    caughtBy: ["I7", "script"],
    options: faultFree,
    patches: [
      {
        file: "engine/turn.ts",
        find: "    return this.#running.size - (this.#codes?.size ?? 0) < concurrency && this.#performed < stepLimit;",
        put: "    return this.#running.size < concurrency && this.#performed < stepLimit;",
      },
    ],
  },
  {
    name: "due-retries-of-code-are-not-begun",
    family: "code",
    caughtBy: ["I7", "script"],
    options: faultFree,
    patches: [
      {
        file: "engine/turn.ts",
        find: "    return task.undoes ? prepareUndo(compiled) : (this.#codes?.askOf(task)?.prepared ?? null);",
        put: "    return task.undoes ? prepareUndo(compiled) : ((task.attempt === 1 && this.#codes?.askOf(task)?.prepared) || null);",
      },
    ],
  },
  {
    name: "left-code-goes-on",
    family: "code",
    caughtBy: ["I26"],
    patches: [
      {
        file: "engine/code/code-run.ts",
        find: "  leave(): void {\n    this.isLeft = true;",
        put: "  leave(): void {\n    this.checking = null;",
      },
      {
        file: "engine/code/code-runs.ts",
        find: "    run.leave();\n    this.#runs.delete(scope);",
        put: "    run.leave();\n    this.#runs.delete(scope);\n    this.#runs.set(JSON.stringify([scope]), run);",
      },
    ],
  },
  {
    name: "code-begins-again-before-its-rest-is-stored",
    family: "code",
    caughtBy: ["I14", "I7", "I26"],
    patches: [
      {
        file: "engine/turn.ts",
        find: "      this.#running.add(task, { outcome, abort: () => undefined });",
        put: "      this.#codes!.ended(task);\n      this.#running.delete(task);",
      },
    ],
  },
  {
    name: "code-rests-although-an-answer-came-first",
    firstSeed: 207,
    family: "code",
    caughtBy: ["I7", "script"],
    patches: [
      {
        file: "engine/turn.ts",
        find: 'if (outcome.type === "aborted" || isValid?.() === false) return;',
        put: 'if (outcome.type === "aborted") return;',
      },
    ],
  },
  {
    name: "numbers-of-steps-begin-anew-after-a-rest",
    family: "code",
    caughtBy: ["I26", "I10", "I7", "script"],
    options: faultFree,
    patches: [
      {
        file: "engine/code/code-run.ts",
        find: "    this.#queue = journalOf(scope, id, Number.NEGATIVE_INFINITY);",
        put: "    this.#queue = journalOf(scope, id, root.version);",
      },
    ],
  },
];
