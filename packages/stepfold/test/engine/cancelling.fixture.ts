import type { Edge, Node, WorkflowDefinition } from "../../src/core/definition/definition.ts";
import type { Json } from "../../src/core/values/json.ts";
import type { NodeOutput } from "../../src/engine/node/node-definition.ts";
import type { StepContext } from "../../src/engine/node/step-context.ts";

type NodeParts = string | Omit<Node, "id">;

/** A workflow of these nodes, by type or in full; edges as `"a>b"`, `"a>b@handle"`. */
export function workflow(
  id: string,
  nodes: Readonly<Record<string, NodeParts>>,
  edges: readonly string[] = [],
  more: Partial<WorkflowDefinition> = {},
): WorkflowDefinition {
  return {
    id,
    nodes: Object.entries(nodes).map(
      ([name, parts]): Node => (typeof parts === "string" ? { id: name, type: parts } : { id: name, ...parts }),
    ),
    edges: edges.map((text): Edge => {
      const [, source, target, sourceHandle] = /^([\w-]+)>([\w-]+)(?:@([\w-]+))?$/.exec(text)!;
      return { source: source!, target: target!, ...(sourceHandle !== undefined && { sourceHandle }) };
    }),
    ...more,
  };
}

interface Held {
  readonly resolve: (output: NodeOutput) => void;
  readonly reject: (thrown: unknown) => void;
}

/** Steps that take as long as the test says. Each is known by its node; in a child with a text as input by both: `work:a`. */
export class HeldSteps {
  /** Steps that were begun, in that order. One that begins while another of its name is under way has its path's id too: `work@0.1`. */
  readonly running: string[] = [];
  /** Steps whose `AbortSignal` has fired. */
  readonly aborted: string[] = [];
  readonly #held = new Map<string, Held>();
  readonly #open = new Set<string>();

  /** The executor. It stops for nothing: what comes late it answers late. */
  readonly executor = (_data: unknown, step: StepContext): Promise<NodeOutput> =>
    new Promise((resolve, reject) => {
      const base = typeof step.input === "string" ? `${step.nodeId}:${step.input}` : step.nodeId;
      const name = this.#open.has(base) ? `${base}@${step.pathId}` : base;
      this.running.push(name);
      this.#open.add(name);
      step.signal.addEventListener("abort", () => this.aborted.push(name));
      this.#held.set(name, { resolve, reject });
    });

  /** Lets a step end, also if nobody waits for it any more. */
  finish(name: string, data: Json = `${name} done`): void {
    this.#of(name).resolve({ data });
  }

  /** Lets a step fail. */
  fail(name: string): void {
    this.#of(name).reject(new Error(`${name} failed`));
  }

  #of(name: string): Held {
    const held = this.#held.get(name);
    if (!held) throw new Error(`${name} was not begun, but: ${this.running.join(", ")}`);
    this.#open.delete(name);
    return held;
  }
}
