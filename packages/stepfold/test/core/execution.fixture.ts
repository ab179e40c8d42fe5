import { compile } from "../../src/core/definition/compile/compile.ts";
import type { CompiledWorkflow } from "../../src/core/definition/compiled.ts";
import type { Edge, Node, WorkflowDefinition } from "../../src/core/definition/definition.ts";
import type { Event, StartedEvent } from "../../src/core/snapshot/event.ts";
import type { Wait } from "../../src/core/snapshot/parts/wait.ts";
import { type ActivePath, isTerminal, type Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { apply } from "../../src/core/transition/apply.ts";
import { expressionLanguage } from "../../src/expressions/expression-language.ts";

/** A workflow from its edges: `"a>b"`, `"a>b@handle"`; its nodes are those that the edges name, and `more`. */
export function graph(
  edges: readonly string[],
  more: readonly (string | Node)[] = [],
  rest: Partial<WorkflowDefinition> = {},
): CompiledWorkflow {
  const nodes = new Map<string, Node>();
  for (const node of more) {
    const whole = typeof node === "string" ? { id: node, type: "noop" } : node;
    nodes.set(whole.id, whole);
  }
  const drawn = edges.map((text): Edge => {
    const [, source, target, sourceHandle] = /^(\w+)>(\w+)(?:@(\w+))?$/.exec(text)!;
    for (const id of [source!, target!]) if (!nodes.has(id)) nodes.set(id, { id, type: "noop" });
    return sourceHandle === undefined ? { source: source!, target: target! } : { source: source!, target: target!, sourceHandle };
  });
  return compile({ id: "flow", nodes: [...nodes.values()], edges: drawn, ...rest }, expressionLanguage);
}

/** The event that begins an execution at a node. */
export function startedAt(workflow: CompiledWorkflow, nodeId: string, more: Partial<StartedEvent> = {}): StartedEvent {
  const definition = { id: workflow.definition.id, hash: workflow.hash };
  return { type: "started", version: 0, at: 1_000, workflowId: "order-1", definition, incarnation: "i", nodeId, metadata: {}, ...more };
}

type Told =
  | { readonly done: string | number | null; readonly handles?: readonly string[] }
  | { readonly error: string; readonly retryAt: number | null; readonly handle?: "error" }
  | { readonly waits: readonly Wait[] };

/** The event of a task's outcome at the current turn of the path. */
export function eventOn(snapshot: Snapshot, pathId: string, told: Told, at: number = 2_000 + snapshot.version * 10): Event {
  const { nodeId, turn, attempts } = pathOf(snapshot, pathId);
  const step = { version: snapshot.version + 1, at, pathId, turn, nodeId, attempt: attempts + 1, startedAt: at - 5 };
  if ("waits" in told) return { type: "suspended", ...step, waits: told.waits };
  if ("error" in told) {
    const { retryAt, handle, error: message } = told;
    return { type: "failed", ...step, error: { name: "Error", message, nodeId }, retryAt, ...(handle && { handle }) };
  }
  return { type: "completed", ...step, output: told.done, ...(told.handles && { handles: told.handles }) };
}

/** An open path by its id. */
export function pathOf(snapshot: Snapshot, id: string): ActivePath {
  const path = snapshot.activePaths.find((open) => open.id === id);
  if (!path) throw new RangeError(`no open path ${id}`);
  return path;
}

/** Completes the node of a path and the nodes after it, one node for each output. */
export function completing(workflow: CompiledWorkflow, from: Snapshot, pathId: string, ...outputs: readonly string[]): Snapshot {
  let snapshot = from;
  for (const done of outputs) if (!isTerminal(snapshot.status)) snapshot = apply(workflow, snapshot, eventOn(snapshot, pathId, { done }));
  return snapshot;
}

/** Freezes a value all the way down. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) Object.freeze(value);
  if (typeof value === "object" && value !== null) for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
