import type { Edge, Node, WorkflowDefinition } from "../../src/core/definition/definition.ts";
import type { Json } from "../../src/core/values/json.ts";
import type { NodeOutput } from "../../src/engine/node/node-definition.ts";
import type { StepContext } from "../../src/engine/node/step-context.ts";

type NodeParts = string | Omit<Node, "id">;

/** A workflow of these nodes, each given as its type or in full; edges as `"a>b"`, `"a>b@handle"`. */
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

/**
 * Steps that end when the test says so. The name of a step is the id of its node; if the input of its scope is a text, the name is both,
 * for example `work:a`.
 */
export class HeldSteps {
  /** The names of the begun steps, in order. A step that begins while another one of its name runs has its path's id too: `work@0.1`. */
  readonly running: string[] = [];
  /** The names of the steps whose `AbortSignal` has fired. */
  readonly aborted: string[] = [];
  readonly #held = new Map<string, Held>();
  readonly #open = new Set<string>();

  /** The executor. It ignores its `AbortSignal`: a step ends only when the test finishes it or lets it fail. */
  readonly executor = (_data: unknown, step: StepContext): Promise<NodeOutput> =>
    new Promise((resolve, reject) => {
      const base = typeof step.input === "string" ? `${step.nodeId}:${step.input}` : step.nodeId;
      const name = this.#open.has(base) ? `${base}@${step.pathId}` : base;
      this.running.push(name);
      this.#open.add(name);
      step.signal.addEventListener("abort", () => this.aborted.push(name));
      this.#held.set(name, { resolve, reject });
    });

  /** Completes a step, also if its outcome is not needed any more. */
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
