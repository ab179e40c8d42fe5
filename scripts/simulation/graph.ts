import type { Edge, Node, Variable, WorkflowDefinition } from "../../packages/stepfold/src/core/definition/definition.ts";
import type { NodeDefinition } from "../../packages/stepfold/src/engine/node/node-definition.ts";
import { codeOf } from "./code.ts";
import { type Frame, goingOn, type Program, partsOf } from "./program.ts";

/** The entry of a part of a graph, and the handles by which paths leave it. */
interface Ends {
  readonly entry: string;
  readonly exits: readonly { readonly node: string; readonly handle?: string }[];
}

/** What is made besides the definition of a workflow. */
interface Made {
  /** Definitions that are started as detached executions. */
  readonly detached: WorkflowDefinition[];
  /** The node types of workflows that are written as code. */
  readonly codeNodes: Record<string, NodeDefinition>;
  /** The version of all code. */
  readonly version: string;
}

/** A graph that is being built. */
interface Graph {
  readonly nodes: Node[];
  readonly edges: Edge[];
  readonly workflows: Record<string, WorkflowDefinition>;
  readonly made: Made;
  /** True if the workflow runs inside another one. */
  readonly isInner: boolean;
}

/** The declared variables of every workflow. Steps also set `last` and `outer`, which are not declared. */
const variables: Readonly<Record<string, Variable>> = {
  total: { initial: 0, reducer: "add" },
  trace: { initial: [], reducer: "append" },
};

/** The id of the step that runs at the end, after its timer. */
export const lastStep = "bye";

/**
 * Returns the workflow of a program, and the workflows that it starts as detached executions.
 *
 * @param version the version of what is written as code
 * @param codeNodes gets the node types of such workflows
 */
export function workflowsOf(
  id: string,
  program: Program,
  frame: Frame = {},
  version = "1",
  codeNodes: Record<string, NodeDefinition> = {},
): readonly WorkflowDefinition[] {
  const made: Made = { detached: [], codeNodes, version };
  return [definitionOf(id, program, made, frame, false), ...made.detached];
}

function definitionOf(id: string, program: Program, made: Made, frame: Frame, isInner: boolean): WorkflowDefinition {
  const { timeoutMs, hasLast, taskQueue, runs = 1, isCode } = frame;
  const graph: Graph = { nodes: [], edges: [], workflows: {}, made, isInner };
  if (isCode) return codeWorkflow(graph, id, program, frame);
  const { entry, exits } = add(graph, id, program);
  graph.nodes.push({ id: "end", type: "step" });
  if (runs > 1) {
    graph.nodes.push({ id: goingOn, type: "goOn", data: { runs } });
    graph.edges.push({ source: goingOn, target: "end", sourceHandle: "done" });
  }
  connect(graph, exits, runs > 1 ? goingOn : "end");
  const { nodes, edges, workflows } = graph;
  const inner = { variables, ...(Object.keys(workflows).length > 0 && { workflows }) };
  const around = { ...(timeoutMs !== undefined && { timeout: timeoutMs }), ...(taskQueue !== undefined && { taskQueue }) };
  if (!hasLast) return { id, start: entry, nodes, edges, ...inner, ...around };
  const last: Node[] = [
    { id: "pause", type: "timer", data: { ms: 300 } },
    { id: lastStep, type: "step" },
  ];
  const all = { nodes: [...nodes, ...last], edges: [...edges, { source: "pause", target: lastStep }] };
  return { id, start: entry, finally: "pause", ...all, ...inner, ...around };
}

/** Returns a program as code. Only its sub-workflows are made as for a graph. */
function codeWorkflow(graph: Graph, id: string, program: Program, frame: Frame): WorkflowDefinition {
  const { made, workflows } = graph;
  addInner(graph, id, program);
  const { definition, nodes } = codeOf(id, made.version, program, frame, Object.values(workflows));
  Object.assign(made.codeNodes, nodes);
  return definition;
}

function addInner(graph: Graph, id: string, program: Program): void {
  if (program.kind === "child" || program.kind === "map") addWorkflow(graph, id, program);
  for (const part of partsOf(program)) addInner(graph, id, part);
}

function add(graph: Graph, workflow: string, program: Program): Ends {
  switch (program.kind) {
    case "sequence":
      return program.parts.map((part) => add(graph, workflow, part)).reduce((first, next) => join(graph, first, next));
    case "flaky":
      return addFlaky(graph, program);
    case "parallel":
      return addParallel(graph, workflow, program);
    case "choice": {
      const { id, taken } = program;
      graph.nodes.push({ id, type: "choose", data: { handle: `option${taken}` } });
      const exits = program.options.flatMap((option, i) => {
        const ends = add(graph, workflow, option);
        graph.edges.push({ source: id, target: ends.entry, sourceHandle: `option${i}` });
        return ends.exits;
      });
      return { entry: id, exits };
    }
    case "loop": {
      const { id, times } = program;
      graph.nodes.push({ id, type: "again", data: { times } });
      const { entry, exits } = add(graph, workflow, program.body);
      graph.edges.push({ source: id, target: entry, sourceHandle: "again" });
      connect(graph, exits, id);
      return { entry: id, exits: [{ node: id, handle: "done" }] };
    }
    case "child":
    case "map":
      return addChildren(graph, workflow, program);
    case "race":
    case "twins":
      throw new RangeError(`${program.id} needs code`);
    default:
      return addLeaf(graph, program);
  }
}

function addLeaf(
  { nodes, isInner }: Graph,
  program: Extract<Program, { kind: "step" | "approve" | "deadline" | "signal" | "timer" }>,
): Ends {
  const { id, kind } = program;
  const sets = kind === "step" && { data: { sets: isInner ? "own" : "outer" } };
  nodes.push({ id, type: kind, ...("ms" in program && { data: { ms: program.ms } }), ...sets });
  return { entry: id, exits: [{ node: id }, ...(kind === "deadline" ? [{ node: id, handle: "timeout" }] : [])] };
}

function addFlaky({ nodes }: Graph, program: Extract<Program, { kind: "flaky" }>): Ends {
  const { id, failures, maxAttempts, isCaught, incident } = program;
  const retryPolicy = { maxAttempts, interval: 700, backoff: "exponential" as const, jitter: 0.3 };
  nodes.push({ id, type: "flaky", data: { failures, ...(incident && { incident }) }, retryPolicy, ...(incident && { incident: true }) });
  return { entry: id, exits: [{ node: id }, ...(isCaught ? [{ node: id, handle: "error" }] : [])] };
}

function addParallel(graph: Graph, workflow: string, { id, branches }: Extract<Program, { kind: "parallel" }>): Ends {
  graph.nodes.push({ id, type: "step" });
  const joined = `${id}_join`;
  for (const branch of branches) {
    const { entry, exits } = add(graph, workflow, branch);
    graph.edges.push({ source: id, target: entry });
    connect(graph, exits, joined);
  }
  graph.nodes.push({ id: joined, type: "step", join: "all" });
  return { entry: id, exits: [{ node: joined }] };
}

/** Makes the workflow of a node. Returns its name, and whether it is started as a detached execution. */
function addWorkflow(
  { made, workflows }: Graph,
  workflow: string,
  program: Extract<Program, { kind: "child" | "map" }>,
): { readonly name: string; readonly isDetached: boolean } {
  const name = `${workflow}-${program.id}`;
  const isDetached = program.kind === "child" && program.isDetached;
  const definition = definitionOf(name, program.body, made, { ...program, runs: isDetached ? program.runs : 1 }, !isDetached);
  if (isDetached) made.detached.push(definition);
  else workflows[name] = definition;
  return { name, isDetached };
}

function addChildren(graph: Graph, workflow: string, program: Extract<Program, { kind: "child" | "map" }>): Ends {
  const { id, kind } = program;
  const { name, isDetached } = addWorkflow(graph, workflow, program);
  const input = { name: "{{ input.name }}" };
  if (kind === "child") {
    const retryPolicy = { maxAttempts: program.attempts, interval: 300, backoff: "fixed" as const };
    graph.nodes.push({
      ...{ id, type: "workflow", data: { workflow: name, input, ...(isDetached && { detached: true }) } },
      ...(program.attempts > 1 && { retryPolicy }),
    });
  } else {
    const items = Array.from({ length: program.items }, (_, item) => ({ ...input, item }));
    graph.nodes.push({ id, type: "map", data: { workflow: name, items, concurrency: program.concurrency } });
  }
  return { entry: id, exits: [{ node: id }] };
}

function join(graph: Graph, first: Ends, next: Ends): Ends {
  connect(graph, first.exits, next.entry);
  return { entry: first.entry, exits: next.exits };
}

function connect({ edges }: Graph, exits: Ends["exits"], target: string): void {
  for (const { node, handle } of exits) edges.push({ source: node, target, ...(handle !== undefined && { sourceHandle: handle }) });
}
