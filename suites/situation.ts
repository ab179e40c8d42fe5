import { fileURLToPath } from "node:url";
import { FatalError, type NodeDefinition, type Snapshot, WorkflowEngine } from "stepfold";
import type { Edge, Json, Node } from "stepfold/core";
import { builtinNodes } from "stepfold/nodes";

/** An event from outside the execution. */
export type Move =
  | { readonly answer: Json; readonly at?: string; readonly by?: string }
  | { readonly signal: string; readonly key?: string; readonly payload?: Json }
  | { readonly laterMs: number }
  | { readonly cancel: true };

/** A situation of another engine's test suite in Stepfold's terms: a workflow, the events from outside, and the expected end. */
export interface Situation {
  readonly name: string;
  readonly nodes: readonly Node[];
  /** The edges, as `a>b` or `a>b@handle`. */
  readonly edges?: readonly string[];
  /** Further fields of the workflow. */
  readonly workflow?: Readonly<Record<string, Json>>;
  /** Sub-workflows by id. */
  readonly workflows?: Readonly<Record<string, { readonly nodes: readonly Node[]; readonly edges?: readonly string[] }>>;
  readonly input?: Json;
  readonly globals?: Readonly<Record<string, Json>>;
  /** The events from outside, in order. */
  readonly moves?: readonly Move[];
  /** The expected status. Default: completed. */
  readonly status?: Snapshot["status"];
  /** The expected output. */
  readonly output?: unknown;
  /** The expected fields of the error. */
  readonly error?: Readonly<Record<string, unknown>>;
  /** The expected last output of nodes, by node. */
  readonly results?: Readonly<Record<string, unknown>>;
  /** The expected number of results of nodes, by node. */
  readonly visits?: Readonly<Record<string, number>>;
}

interface TaskData {
  /** The output of the task. Default: null. */
  readonly gives?: Json;
  /** The number of attempts that fail. Default: 0. */
  readonly failures?: number;
  /** The code of the error of a failing attempt. Default: BUSY. */
  readonly code?: string;
  /** Whether the error is fatal, so that no further attempt follows. */
  readonly fatal?: boolean;
}

/** The work that a suite asks for: it returns a value, or fails so many times. */
const task: NodeDefinition = {
  executor(data, step) {
    const { gives = null, failures = 0, code = "BUSY", fatal = false } = (data ?? {}) as TaskData;
    if (step.attempt <= failures) throw Object.assign(fatal ? new FatalError("it fails") : new TypeError("it fails"), { code });
    return { data: gives };
  },
};

/** The time at which every situation begins. */
export const begin: number = Date.parse("2026-03-05T14:07:09.000Z");

const edgesOf = (arrows: readonly string[] = []): Edge[] =>
  arrows.map((arrow) => {
    const [, source, target, sourceHandle] = /^(\S+)>(\S+?)(?:@(\S+))?$/.exec(arrow)!;
    return { source: source!, target: target!, ...(sourceHandle !== undefined && { sourceHandle }) };
  });

/** Runs a situation to its end, and returns the last snapshot. */
export async function play({ nodes, edges, workflow, workflows = {}, input, globals, moves = [] }: Situation): Promise<Snapshot> {
  let now = begin;
  const inner = Object.entries(workflows).map(([id, one]) => [id, { id, nodes: one.nodes, edges: edgesOf(one.edges) }] as const);
  const engine = new WorkflowEngine({
    workflow: {
      id: "situation",
      ...workflow,
      nodes,
      edges: edgesOf(edges),
      ...(inner.length > 0 && { workflows: Object.fromEntries(inner) }),
    },
    nodeDefinitions: { ...builtinNodes, task },
    environment: { now: () => now, monotonicMs: () => now, newId: () => "w1", after: (ms, run) => timer(ms, run) },
  });
  const going = { globals };
  let snapshot = await engine.execute({ workflowId: "w1", ...(input !== undefined && { input }), ...going });
  for (const move of moves) {
    // the snapshot as a database would store it between two moves
    const stored = JSON.parse(JSON.stringify(snapshot)) as object;
    if ("laterMs" in move) {
      now += move.laterMs;
      snapshot = await engine.execute({ snapshot: stored, ...going });
    } else if ("cancel" in move) snapshot = await engine.execute({ snapshot: await engine.send(stored, { type: "cancel" }), ...going });
    else if ("signal" in move) {
      const { signal: name, ...rest } = move;
      snapshot = await engine.execute({ snapshot: await engine.send(stored, { type: "signal", name, ...rest }), ...going });
    } else {
      const sent = await engine.send(stored, { type: "resume", target: move.at, payload: move.answer, by: move.by });
      snapshot = await engine.execute({ snapshot: sent, ...going });
    }
  }
  return snapshot;
}

function timer(ms: number, run: () => void): () => void {
  const handle = setTimeout(run, ms);
  return () => clearTimeout(handle);
}

/** The path of the page with the results. */
export const page: string = fileURLToPath(new URL("../docs/other-engines.md", import.meta.url));
