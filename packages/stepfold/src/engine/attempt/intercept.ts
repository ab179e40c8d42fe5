import type { Task } from "../../core/transition/plan.ts";
import type { Environment } from "../../ports/environment.ts";
import type { NodeDefinition } from "../node/node-definition.ts";

/**
 * Returns what performs a task in place of its node definition, or that definition itself. Tests see and replace by it whatever is performed: nodes, steps
 * that code asks for, and the code itself.
 */
export type Intercept = (definition: NodeDefinition, task: Task, type: string) => NodeDefinition;

/** An environment of tests that looks at each task, just before it is performed. */
export interface InterceptingEnvironment extends Environment {
  readonly "~intercept": Intercept;
}

/** Returns what an environment does with each task; null if it does nothing. */
export function interceptOf(environment: Environment | InterceptingEnvironment): Intercept | null {
  return "~intercept" in environment ? environment["~intercept"] : null;
}
