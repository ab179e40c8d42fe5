import { defineDurable, type WorkflowDefinition } from "stepfold";
import { actingOf, loadEffect } from "../kill9/load.ts";
import type { LogLine } from "../kill9/log.ts";

/** How much happens at once in an execution of a storm. */
export const width = 20;

/** What happens in an execution: steps at once, waits that are answered, or short timers with a step after each. */
export const shapes = ["steps", "answers", "timers"] as const;
export type Shape = (typeof shapes)[number];
/** How a workflow is written. */
export const kinds = ["code", "graph"] as const;
export type Kind = (typeof kinds)[number];

export const idOf = (shape: Shape, kind: Kind): string => `${shape}-${kind}`;

/** The longest time of a step, and the shortest and longest time of a timer. */
const mostMs = 10;
const timerMs = (nth: number): number => 50 + 10 * nth;
const branches = Array.from({ length: width }, (_, nth) => nth);

/** The workflows of a storm: each shape as code and as a graph. */
export function stormWorkflows(write: (line: LogLine) => void) {
  return [...shapes.map((shape) => codeOf(shape, write)), ...shapes.map(graphOf)];
}

function codeOf(shape: Shape, write: (line: LogLine) => void) {
  const effect = loadEffect(write, { mostMs });
  return defineDurable({
    id: idOf(shape, "code"),
    waits: Object.fromEntries(branches.map((nth) => [`ask-${nth}`, true as const])),
    async run({ step, workflowId }) {
      const perform = (name: string) => step.run(name, async (sub) => ({ ...(await effect({}, actingOf(workflowId, name, sub))) }));
      await Promise.all(
        branches.map(async (nth) => {
          if (shape === "answers") return step.waitFor(`ask-${nth}`);
          if (shape === "timers") await step.sleep(`nap-${nth}`, timerMs(nth));
          return perform(`work-${nth}`);
        }),
      );
      await perform("end");
      return "done";
    },
  });
}

function graphOf(shape: Shape): WorkflowDefinition {
  const effect = (id: string, more: object = {}) => ({ id, type: "effect", data: { mostMs }, ...more });
  const first = branches.map((nth) => {
    if (shape === "answers") return { id: `ask-${nth}`, type: "ask" };
    return shape === "timers" ? { id: `nap-${nth}`, type: "wait", data: { for: timerMs(nth) } } : effect(`work-${nth}`);
  });
  const second = shape === "timers" ? branches.map((nth) => effect(`work-${nth}`)) : [];
  const last = second.length > 0 ? second : first;
  return {
    id: idOf(shape, "graph"),
    nodes: [{ id: "begin", type: "noop" }, ...first, ...second, effect("end", { join: "all" })],
    edges: [
      ...first.map(({ id }) => ({ source: "begin", target: id })),
      ...second.map(({ id }, nth) => ({ source: first[nth]!.id, target: id })),
      ...last.map(({ id }) => ({ source: id, target: "end" })),
    ],
    output: "done",
  };
}
