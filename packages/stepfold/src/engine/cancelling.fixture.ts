import type { Json } from "../core/json.ts";
import type { NodeOutput } from "./node-definition.ts";
import type { StepContext } from "./step-context.ts";

/** Steps that take as long as the test says. Each is known by its node; in a child with a text as input by both: `work:a`. */
export class HeldSteps {
  /** Steps under way, in the order in which they began. */
  readonly running: string[] = [];
  /** Steps whose `AbortSignal` has fired. */
  readonly aborted: string[] = [];
  readonly #finish = new Map<string, (output: NodeOutput) => void>();

  /** The executor. It stops for nothing: what is told to it late it answers late. */
  readonly executor = (_data: unknown, step: StepContext): Promise<NodeOutput> =>
    new Promise((resolve) => {
      const name = typeof step.input === "string" ? `${step.nodeId}:${step.input}` : step.nodeId;
      this.running.push(name);
      step.signal.addEventListener("abort", () => this.aborted.push(name));
      this.#finish.set(name, resolve);
    });

  /** Lets a step end, also if nobody waits for it any more. */
  finish(name: string, data: Json = `${name} done`): void {
    const finish = this.#finish.get(name);
    if (!finish) throw new Error(`${name} is not under way, but: ${this.running.join(", ")}`);
    finish({ data });
  }
}
