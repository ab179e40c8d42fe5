import type { Event } from "stepfold";
import { describe, expect, it } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { bench } from "./kill9/bench.ts";
import type { StoredExecution } from "./kill9/stored.ts";
import { storm } from "./storms/storm.ts";
import { kinds, type Shape, shapes, width } from "./storms/storm-workflows.ts";

const { store, executions } = effort.storms;
const cases = shapes.flatMap((shape) => kinds.map((kind) => ({ shape, kind })));
const what: Readonly<Record<Shape, string>> = {
  steps: `${width} steps at once`,
  answers: `${width} waits that are each answered twice`,
  timers: `${width} short timers before ${width} steps`,
};

describe(`${executions} executions on ${store}, with two workers of which one is killed`, () => {
  it.for(cases)(
    "$shape as $kind: every step has one result, nothing is lost or doubled",
    { timeout: 900_000 },
    async ({ shape, kind }, { skip }) => {
      const { folder, target } = await bench(store, skip);
      const began = performance.now();
      const { lost, doubled, wrong, failures, repeated, stored, versions } = await storm({ target, folder, shape, kind, executions });
      console.log(
        `${what[shape]}, ${kind}: ${stored.executions.length} executions, ${versions} versions, ${Math.round(performance.now() - began)} ms`,
      );
      expect({ lost, doubled, wrong, failures }).toEqual({ lost: [], doubled: [], wrong: [], failures: [] });
      expect(stored.executions).toHaveLength(executions);
      const odd = stored.executions.filter((execution) => !hasAll(execution, shape));
      expect(odd.map(({ workflowId, status, rows }) => [workflowId, status, rows.length])).toEqual([]);
      if (shape === "answers") expect(repeated).toBeGreaterThan(0);
    },
  );
});

/** Whether an execution has completed with one result for each of its steps, and one answer for each of its waits. */
function hasAll({ status, rows }: StoredExecution, shape: Shape): boolean {
  const events = rows.map(({ event }) => event);
  const steps = names(
    events.flatMap((event) => (event.type === "completed" ? [event.nodeId] : [])),
    shape === "answers" ? /^end$/ : /^(work-|end$)/,
  );
  const answers = new Set(events.flatMap((event) => (event.type === "resumed" ? [event.waitId] : [])));
  const timers = shape === "steps" ? 0 : width;
  return (
    status === "completed" &&
    steps.length === (shape === "answers" ? 1 : width + 1) &&
    new Set(steps).size === steps.length &&
    answers.size === timers &&
    resumes(events) === timers
  );
}

function names(nodeIds: readonly string[], wanted: RegExp): string[] {
  return nodeIds.filter((nodeId) => wanted.test(nodeId));
}

function resumes(events: readonly Event[]): number {
  return events.filter(({ type }) => type === "resumed").length;
}
