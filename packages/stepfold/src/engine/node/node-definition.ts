import type { RetryPolicy } from "../../core/definition/definition.ts";
import type { Duration } from "../../core/values/duration.ts";
import type { EpochMs, Json, JsonSchema } from "../../core/values/json.ts";
import type { StandardSchema } from "./standard-schema.ts";
import type { StepContext } from "./step-context.ts";

/** What an executor may return: its data and where to go on, or that it waits. */
export type NodeOutput<Out = unknown, Handle extends string = string> =
  | { readonly __pause: true; readonly data?: unknown; readonly resumeAt?: number | undefined }
  | { readonly __children: ChildrenRequest }
  | { readonly __signal: SignalRequest }
  | { readonly continueAs: Continuation; readonly vars?: Readonly<Record<string, unknown>> | undefined }
  // the last, because the compiler explains what is wrong by the last that has as much in common
  | {
      readonly data: Out;
      readonly nextHandle?: Handle | null | undefined;
      readonly nextHandles?: readonly Handle[] | undefined;
      /** Ends the workflow here, with this data as its output; in a child, the child. All other paths of it end. */
      readonly terminate?: boolean | undefined;
      /** For the nodes of schedules: executions to start or to cancel, which are no children of this one. Only with a runtime. */
      readonly __sends?: readonly SendRequest[] | undefined;
      /**
       * For the nodes of schedules, with `terminate`: the name of a signal. If one of this name (and without a key) has come that no step has
       * waited for, also while the step ran, the workflow does not end: the path leaves by its edges.
       */
      readonly __unlessSignalled?: string | undefined;
      /**
       * Sets variables of the scope, by name, together with the output: each through the reducer that the workflow declares for it. Of a step that
       * fails, waits or undoes another one nothing is set.
       */
      readonly vars?: Readonly<Record<string, unknown>> | undefined;
      readonly __pause?: false | undefined;
      readonly __children?: undefined;
      readonly __signal?: undefined;
      readonly continueAs?: undefined;
    };

/**
 * The execution ends here, and goes on as a new one: at the first node, with this input, and with the signals that no step has waited for.
 * Definition, metadata, tenant and parent are those of this one, the id too, with `~2`, `~3`, ... at its end. Its history begins anew. All other
 * paths of this one end; it completes without an output, and names the new one (`continuedAs`). Signals that are sent to this one go to the
 * new one, and a parent waits for its end.
 *
 * Only with a runtime, and not in a sub-workflow or an item of a map: there the step fails. If the process dies in between, whoever takes over
 * begins the new one, once.
 *
 * ```ts
 * const executor = async (data, step) => {
 *   const count = step.input.count + 1;
 *   return count % 1_000 === 0 ? { continueAs: { input: { count } } } : { data: count };
 * };
 * ```
 */
export interface Continuation {
  /** As for `start`: it must fit the input schema of the workflow. */
  readonly input?: unknown;
}

/** What a step tells an execution that is no child of its own: to begin, or to end if the schedule has started it. */
export type SendRequest =
  | {
      /** Id of a workflow of the runtime. */
      readonly start: string;
      readonly workflowId: string;
      readonly input?: unknown;
      readonly metadata?: unknown;
      /** Name of the schedule. */
      readonly schedule: string;
      readonly at: EpochMs;
      /** Sends a signal named `schedule` when it has ended. */
      readonly reports: boolean;
    }
  | { readonly cancel: string; readonly schedule: string };

/**
 * The step sends a signal to another execution. When that has it, or cannot have it, the step is performed again, with
 * `resumed: { by: "delivery", payload: { status, output?, error? } }`; the output of one to all is `{ reached, refused }`, two numbers.
 */
export interface SignalRequest {
  /** Id of the execution. */
  readonly to?: string | undefined;
  /** True, instead of `to`: all executions of the tenant that wait for it, under its `key`, when it is delivered. It is kept by none. */
  readonly all?: boolean | undefined;
  /** With `all`: only executions of this workflow. */
  readonly workflow?: string | undefined;
  readonly name: string;
  /** Only for waits with the same key. */
  readonly key?: string | undefined;
  readonly payload?: unknown;
  /** How long it is kept if nobody waits for it yet. Default: 30 days. */
  readonly ttl?: Duration | undefined;
}

/** The step goes on in children: one sub-workflow, or one for each item of a map; or in an execution of its own. */
export interface ChildrenRequest {
  /** Name of a definition in the `workflows` of this one, or around it; of a detached one, in those of the runtime. */
  readonly workflow: string;
  /** Input of the one child. */
  readonly input?: unknown;
  /** Instead of `input`: each item is the input of a child of its own. */
  readonly map?: MapRequest | undefined;
  /**
   * Instead: an execution of its own. When it has ended the step is performed again, with
   * `resumed: { by: "child", payload: { status, output?, error? } }`.
   */
  readonly detached?: boolean | undefined;
  /** Of a detached one: false to complete at once with `{ workflowId }`. Default true. */
  readonly wait?: boolean | undefined;
  /** Id of a detached one. Default: made of the id of this execution and the place in it. */
  readonly workflowId?: string | undefined;
}

/** How a map goes through its items. */
export interface MapRequest {
  readonly items: readonly unknown[];
  /** Items under way at once; those that wait for somebody do not count. Default 16, or the limit `mapConcurrency` if that is lower. */
  readonly concurrency?: number | undefined;
  /** Items may be added until the map is closed. */
  readonly open?: boolean | undefined;
  /** The step goes on as soon as this many items are done. Default: when all have ended. */
  readonly completeWhen?: number | undefined;
  /** What becomes then of the items that have not ended: `cancel` (default) ends them, `finish` lets them run on. */
  readonly remaining?: "finish" | "cancel" | undefined;
  /** Items that may fail: a number, or a share of all such as `"10%"`. Default 0. */
  readonly toleratedFailures?: number | string | undefined;
}

/**
 * The code behind a node type.
 *
 * Schemas are Standard Schemas (zod, valibot, arktype, ...), which also give the types, or plain JSON Schemas.
 */
export interface NodeDefinition<In = unknown, Out = unknown, Resume = unknown, Handle extends string = string, Globals = unknown> {
  /** Checks, and may transform, the node's data before the executor runs. */
  readonly input?: StandardSchema<unknown, In> | JsonSchema | undefined;
  /** Checks, and may transform, what the executor returned. */
  readonly output?: StandardSchema<Out> | JsonSchema | undefined;
  /**
   * Checks the payload that resumes the node. A resume that does not fit is refused and changes nothing.
   *
   * A process without this code checks it against the JSON Schema that this is, or that it gives of itself (zod from 4.2, arktype from 2.1.28): it
   * is kept with the execution. What that lets through and this refuses opens the wait again (event `answerRefused`). Of a schema that gives none,
   * such a process takes no answer (`CODE_NEEDED`).
   */
  readonly resume?: StandardSchema<unknown, Resume> | JsonSchema | undefined;
  /**
   * Names of the output handles; `""` is the default one. A `nextHandle` that is neither declared nor has an edge fails
   * the node, and so does naming none where `""` is not declared and has no edge: a typo never ends a path silently.
   */
  readonly handles?: readonly Handle[] | undefined;
  /** When failed attempts are made again. A node of the workflow may override it. */
  readonly retryPolicy?: RetryPolicy | undefined;
  /**
   * Members of the data of which only matters whether they hold. A workflow that gives text there, which always holds, such
   * as `"{{ input.x }} > 3"`, gets a warning.
   */
  readonly conditions?: readonly string[] | undefined;
  /** For editors: label, icon, description. */
  readonly metadata?: Readonly<Record<string, Json>> | undefined;
  /** Does the work. What it throws is retried by policy; `FatalError` never is. */
  executor(
    data: In,
    step: StepContext<Resume, Globals>,
  ): NodeOutput<NoInfer<Out>, NoInfer<Handle>> | Promise<NodeOutput<NoInfer<Out>, NoInfer<Handle>>>;
}

/** Node definitions by type name. */
export type NodeDefinitions = Readonly<Record<string, NodeDefinition>>;

type GlobalsOfNode<D> = D extends { executor(data: never, step: StepContext<never, infer Globals>): unknown } ? Globals : unknown;
type Intersect<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never;

/** The globals that these nodes need, all together. */
export type GlobalsOf<D extends NodeDefinitions> = Intersect<
  { [K in keyof D]: unknown extends GlobalsOfNode<D[K]> ? Record<never, never> : GlobalsOfNode<D[K]> }[keyof D]
>;

/** Globals are asked for where the node definitions need some. */
export type GlobalsOption<D extends NodeDefinitions> =
  Record<never, never> extends GlobalsOf<D> ? { readonly globals?: GlobalsOf<D> | undefined } : { readonly globals: GlobalsOf<D> };
