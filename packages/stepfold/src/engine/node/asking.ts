import type { RetryPolicy } from "../../core/definition/definition.ts";
import type { UndoneBy } from "../../core/snapshot/parts/undone-by.ts";
import type { Duration } from "../../core/values/duration.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";
import type { NodeDefinition } from "./node-definition.ts";

/** A step that code asks for. */
export interface StepRequest {
  /** The name of the step: its node id. */
  readonly name: string;
  /** What performs it: the name of a node type, or a node definition with the type that is told of it. */
  readonly by: string | { readonly type: string; readonly definition: NodeDefinition };
  readonly data?: unknown;
  readonly retry?: RetryPolicy | undefined;
  readonly timeout?: Duration | undefined;
  readonly heartbeatTimeout?: Duration | undefined;
  /** True if the step stays open as an incident when all its attempts have failed. */
  readonly incident?: boolean | undefined;
  /** What undoes the step if the execution fails or is cancelled later. */
  readonly undo?: UndoneBy | undefined;
  /** Makes what the code gets of the output, each time that it gets it. Default: the output as it is. */
  readonly receive?: ((output: Json) => unknown) | undefined;
}

/** What the code of a workflow can ask for while it runs. What users see of it is made by `defineDurable`. */
export interface Asking {
  /** Asks for a step. Resolves with its output, once that is committed; rejects with the error of a step that has failed for good. */
  ask(request: StepRequest): Promise<unknown>;
  /** Whether code that was inserted later is to run here: it is, unless the execution has gone on behind this place without it. */
  changed(name: string): boolean;
  /** The time of what the code got last; the same in every replay. */
  now(): EpochMs;
  /** A text that no other call of any execution gets, and that is the same in every replay: what chance is made of. */
  seed(): string;
  /** The code has returned or has thrown. */
  end(): void;
  /** Rejects if the code has neither asked for a step nor ended for too long, although no step was open that it could wait for. */
  readonly givenUp: Promise<never>;
}

/** The context of a step, with what code can ask for. Only the step that is the code of a workflow has it. */
export interface CodeContext {
  readonly "~asking"?: Asking | undefined;
}
