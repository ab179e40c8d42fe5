import type { WorkflowDefinition } from "../../packages/stepfold/src/core/definition/definition.ts";
import type { Json } from "../../packages/stepfold/src/core/values/json.ts";
import { defineDurable } from "../../packages/stepfold/src/durable/define-durable.ts";
import type { DurableStep } from "../../packages/stepfold/src/durable/durable-step.ts";
import type { NodeDefinition } from "../../packages/stepfold/src/engine/node/node-definition.ts";
import type { Schema } from "../../packages/stepfold/src/engine/node/standard-schema.ts";
import { type Frame, goingOn, type Program, partsOf } from "./program.ts";

/** A workflow as code, and the types of its nodes. */
export interface CodeWorkflow {
  readonly definition: WorkflowDefinition;
  readonly nodes: Readonly<Record<string, NodeDefinition>>;
}

/** The input of every execution, and of every item. */
interface Input {
  readonly item?: number;
  readonly run?: number;
}

/**
 * Returns the code that does what a program says, with the same ids and results as its graph.
 *
 * @param version versions of one program live side by side
 * @param workflows the workflows that it runs as parts of its execution
 */
export function codeOf(
  id: string,
  version: string,
  program: Program,
  { timeoutMs, taskQueue, runs = 1 }: Frame,
  workflows: readonly WorkflowDefinition[],
): CodeWorkflow {
  const { definition, nodes } = defineDurable({
    ...{ id, version, workflows, waits: schemasOf(program) },
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(taskQueue !== undefined && { taskQueue }),
    async run({ input, step, globals }): Promise<unknown> {
      const code = new Code(id, step as Asked, (input ?? {}) as Input, globals as { readonly apiKey: string });
      await code.go(program);
      const { run = 1, ...given } = (input ?? {}) as Input;
      if (run < runs) return step.continueAs({ ...given, run: run + 1 } as never);
      if (runs > 1) await code.produce(goingOn);
      return code.produce("end");
    },
  });
  return { definition, nodes };
}

/** The steps of code whose names are not known before. */
type Asked = DurableStep<Json, Record<string, Json>, Record<string, Json>>;

/** Runs one program as code. */
class Code {
  readonly #name: string;
  readonly #step: Asked;
  readonly #item: string;
  readonly #globals: { readonly apiKey: string };
  readonly #input: Input & { readonly name?: string };
  /** How often each step was asked for. */
  readonly #times = new Map<string, number>();

  constructor(name: string, step: Asked, input: Input & { readonly name?: string }, globals: { readonly apiKey: string }) {
    this.#name = name;
    this.#step = step;
    this.#item = String(input.item ?? "");
    this.#input = input;
    this.#globals = globals;
  }

  async produce(id: string): Promise<string> {
    const output = this.#next(id);
    return this.#step.run(id, () => output);
  }

  /** Returns the number of a step among those with its name, from 0. */
  #count(id: string): number {
    const times = this.#times.get(id) ?? 0;
    this.#times.set(id, times + 1);
    return times;
  }

  #next(id: string): string {
    return `${id}#${this.#count(id) + 1}`;
  }

  async go(program: Program): Promise<unknown> {
    const step = this.#step;
    switch (program.kind) {
      case "sequence":
        for (const part of program.parts) await this.go(part);
        return;
      case "flaky":
        return this.#goFlaky(program);
      case "approve":
        return step.waitFor(program.id);
      case "deadline":
        return step.waitFor(program.id, { timeout: program.ms });
      case "signal":
        return step.signal(program.id, { key: `${this.#item}.${this.#count(program.id)}` });
      case "timer":
        return step.sleep(program.id, program.ms);
      case "parallel": {
        await this.produce(program.id);
        // each branch runs as far as it can, even if another one fails
        const ends = await Promise.allSettled(program.branches.map((branch) => this.go(branch)));
        for (const end of ends) if (end.status === "rejected") throw end.reason;
        return this.produce(`${program.id}_join`);
      }
      case "choice":
        await this.produce(program.id);
        return this.go(program.options[program.taken]!);
      case "loop":
        for (let time = 0; time < program.times; time++) {
          await this.produce(program.id);
          await this.go(program.body);
        }
        return this.produce(program.id);
      case "race":
        return this.#goRace(program);
      case "twins":
        return this.#goTwins(program);
      case "child":
        return this.#goChild(program);
      case "map": {
        const items = Array.from({ length: program.items }, (_, item) => ({ name: this.#input.name, item }));
        return step.map(program.id, items as never[], `${this.#name}-${program.id}`, { concurrency: program.concurrency });
      }
      default:
        return this.produce(program.id);
    }
  }

  async #goFlaky({ id, failures, maxAttempts, isCaught, incident }: Extract<Program, { kind: "flaky" }>): Promise<void> {
    const output = this.#next(id);
    const retry = { maxAttempts, interval: 700, backoff: "exponential", jitter: 0.3 } as const;
    const isIncident = incident !== undefined;
    try {
      await this.#step.run(id, { retry, incident: isIncident }, ({ attempt }) => {
        if (attempt > failures) return output;
        throw new Error(`attempt ${attempt} with ${this.#globals.apiKey} failed`);
      });
    } catch (error) {
      if (!isCaught) throw error;
    }
  }

  /** Lets steps race, and keeps which of them was first. The others go on, and nobody waits for them. */
  async #goRace({ id, contenders }: Extract<Program, { kind: "race" }>): Promise<void> {
    const winner = await Promise.race(contenders.map((contender) => this.go(contender).then(() => contender.id)));
    await this.#step.run(id, () => ({ winner, among: contenders.map((contender) => contender.id) }));
  }

  /** Several coroutines ask for steps under one name. One of them takes long before it asks for the next one. */
  async #goTwins({ id, width, length }: Extract<Program, { kind: "twins" }>): Promise<void> {
    const first = this.produce(`${id}_first`);
    const twin = async (nth: number): Promise<void> => {
      await first;
      for (let i = 0; i < 60 * nth; i++) await null;
      for (let i = 0; i < length; i++) await this.produce(id);
    };
    await Promise.all(Array.from({ length: width }, (_, nth) => twin(nth)));
  }

  async #goChild({ id, isDetached, attempts }: Extract<Program, { kind: "child" }>): Promise<void> {
    const workflow = `${this.#name}-${id}`;
    const input = { name: this.#input.name } as never;
    const data = { workflow, input, ...(isDetached && { detached: true }) };
    if (isDetached && attempts > 1) await this.#step.node(id, "workflow", data, { retry: { maxAttempts: attempts, interval: 300 } });
    else if (isDetached) await this.#step.start(id, workflow, input);
    else await this.#again(attempts, () => this.#step.call(id, workflow, input));
  }

  /** What runs inside the execution is asked for again by the code. */
  async #again(attempts: number, ask: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await ask();
        return;
      } catch (error) {
        if (attempt >= attempts) throw error;
      }
    }
  }
}

/** The answers that a wait of code takes if it has a schema, the same in processes with the code and without it. */
const answerSchema: Schema = {
  type: "object",
  properties: { by: { type: "string" }, nth: { type: "integer", minimum: 1 } },
  required: ["by", "nth"],
};

/** Returns the schemas of half of the waits. The others take any answer. */
function schemasOf(program: Program): Record<string, Schema> {
  const schemas: Record<string, Schema> = {};
  const look = (part: Program): void => {
    if ((part.kind === "approve" || part.kind === "deadline") && part.id.length % 2 === 0) schemas[part.id] = answerSchema;
    for (const inner of partsOf(part)) look(inner);
  };
  look(program);
  return schemas;
}
