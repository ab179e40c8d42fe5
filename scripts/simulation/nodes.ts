import type { NodeDefinition, NodeDefinitions } from "../../packages/stepfold/src/engine/node/node-definition.ts";
import type { StandardSchema } from "../../packages/stepfold/src/engine/node/standard-schema.ts";
import type { StepContext } from "../../packages/stepfold/src/engine/node/step-context.ts";
import { mapNode } from "../../packages/stepfold/src/nodes/map.ts";
import { workflowNode } from "../../packages/stepfold/src/nodes/workflow.ts";

/** A secret in the globals of every runtime. It must never be stored. */
export const secret = "canary-9f31c2";

/** Returns the output of a step, the node's id and the number of the result, as the model expects it. */
function next({ context, nodeId }: StepContext): string {
  return `${nodeId}#${countOf(context, nodeId) + 1}`;
}

function countOf(context: StepContext["context"], nodeId: string): number {
  return (context[nodeId] ?? []).filter(({ error }) => error === undefined).length;
}

const step: NodeDefinition = {
  executor(data, around) {
    const output = next(around);
    const { sets } = (data ?? {}) as { readonly sets?: "own" | "outer" };
    if (sets === undefined) return { data: output };
    return { data: output, vars: { total: 1, last: output, trace: readBy(around), ...(sets === "outer" && { outer: output }) } };
  },
};

/** Returns the variables that a step reads. The step stores them in the variable `trace`, so that the model can check them. */
function readBy({ nodeId, vars }: StepContext): Read {
  const { total = null, last = null, outer = null } = vars as Partial<Read>;
  return { nodeId, total, last, outer };
}

/** One entry of the variable `trace`. */
export interface Read {
  readonly nodeId: string;
  readonly total: number | null;
  readonly last: string | null;
  readonly outer: string | null;
}

const flaky: NodeDefinition = {
  executor(data, around) {
    const { failures } = data as { failures: number };
    if (around.attempt > failures) return { data: next(around) };
    throw new Error(`attempt ${around.attempt} with ${(around.globals as { apiKey: string }).apiKey} failed`);
  },
};

/** True for an answer that the schema of `approve` refuses in code, although its JSON Schema accepts it. */
export function isRefused(payload: unknown): boolean {
  return (payload as { readonly nth?: unknown } | undefined)?.nth === 0;
}

/** The schema of answers. A process without the code knows only the JSON Schema, and so accepts answers that the code refuses. */
const approvalSchema: StandardSchema = {
  "~standard": {
    version: 1,
    vendor: "simulation",
    validate: (value) => (isRefused(value) ? { issues: [{ message: "must not be 0", path: ["nth"] }] } : { value }),
    jsonSchema: {
      input: () => ({ type: "object", properties: { by: { type: "string" }, nth: { type: "integer" } }, required: ["by", "nth"] }),
    },
  },
};

const approve: NodeDefinition = {
  resume: approvalSchema,
  executor: (_data, around) => (around.resumed ? { data: next(around) } : around.suspend({ asks: around.nodeId })),
};

const deadline: NodeDefinition = {
  executor(data, around) {
    return around.resumed ? { data: next(around) } : around.suspend({}, { timeout: (data as { ms: number }).ms });
  },
};

/** Waits for a signal. Each wait has its own key, also in items of a map and in loops. */
const signal: NodeDefinition = {
  executor(_data, around) {
    if (around.resumed) return { data: next(around) };
    const { item = "" } = around.input as { item?: number };
    return around.suspend({}, { signal: around.nodeId, key: `${item}.${countOf(around.context, around.nodeId)}` });
  },
};

const timer: NodeDefinition = {
  executor(data, around) {
    if (around.resumed) return { data: next(around) };
    return { __pause: true, resumeAt: around.now() + (data as { ms: number }).ms };
  },
};

const choose: NodeDefinition = {
  executor: (data, around) => ({ data: next(around), nextHandle: (data as { handle: string }).handle }),
};

const again: NodeDefinition = {
  executor(data, around) {
    const { times } = data as { times: number };
    // the count goes on if the whole loop is inside another loop
    const isDone = countOf(around.context, around.nodeId) % (times + 1) === times;
    return { data: next(around), nextHandle: isDone ? "done" : "again" };
  },
};

/** Ends a run. The execution goes on with the next one, until it has had so many runs. */
const goOn: NodeDefinition = {
  executor(data, around) {
    const { runs } = data as { runs: number };
    const { run = 1, ...input } = around.input as { readonly run?: number };
    return run < runs ? { continueAs: { input: { ...input, run: run + 1 } } } : { data: next(around), nextHandle: "done" };
  },
};

export const nodes: NodeDefinitions = {
  step,
  flaky,
  approve,
  deadline,
  signal,
  timer,
  choose,
  again,
  goOn,
  workflow: workflowNode,
  map: mapNode,
} as NodeDefinitions;
