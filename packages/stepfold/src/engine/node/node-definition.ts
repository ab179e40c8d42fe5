import type { RetryPolicy } from "../../core/definition/definition.ts";
import type { Duration } from "../../core/values/duration.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";
import type { Schema } from "./standard-schema.ts";
import type { StepContext } from "./step-context.ts";

/**
 * What an executor may return: its data and the handles to leave by, or a request to wait, to run children, to send a signal, or to
 * begin the next run of the execution. `__pause` does the same as `step.suspend(data, { resumeAt })`. The built-in nodes `workflow`, `map` and
 * `sendSignal` return `__children` and `__signal`.
 */
export type NodeOutput<Out = unknown, Handle extends string = string> =
  | { readonly __pause: true; readonly data?: unknown; readonly resumeAt?: number | undefined }
  | { readonly __children: ChildrenRequest }
  | { readonly __signal: SignalRequest }
  | { readonly continueAs: Continuation; readonly vars?: Readonly<Record<string, unknown>> | undefined }
  // this member comes last, because the compiler explains a mistake by the last of the members that fit equally well
  | {
      readonly data: Out;
      /** The handle that the path leaves by. Absent, null or empty: the default handle. */
      readonly nextHandle?: Handle | null | undefined;
      /** Instead of `nextHandle`: several handles, at which the path forks. An empty list: the path takes no edge. */
      readonly nextHandles?: readonly Handle[] | undefined;
      /** With a handle that is one of the `failures` of the node type: the error with which the step fails if no edge leaves by it. */
      readonly failure?: { readonly code: string; readonly message: string; readonly name?: string | undefined } | undefined;
      /** Ends the workflow here, with `data` as its output; in a sub-workflow or an item of a map, only that. All its other paths end. */
      readonly terminate?: boolean | undefined;
      /** For the nodes of schedules: executions to start or to cancel, which are not children of this one. Needs a runtime. */
      readonly __sends?: readonly SendRequest[] | undefined;
      /**
       * For the nodes of schedules, with `terminate` and without `__sends`: the name of a signal. If a signal of this name (and without a
       * key) has come that no step has taken, also while this step ran, or if a message of the execution is not delivered yet, the
       * workflow does not end: the path leaves by the default handle.
       */
      readonly __unlessSignalled?: string | undefined;
      /**
       * Values for variables of the scope, by name. They are set together with the output, each through the reducer that the workflow
       * declares for it. A step that fails sets none; a step that waits, runs children or undoes another step must not have any.
       */
      readonly vars?: Readonly<Record<string, unknown>> | undefined;
      readonly __pause?: false | undefined;
      readonly __children?: undefined;
      readonly __signal?: undefined;
      readonly continueAs?: undefined;
    };

/**
 * Ends the run of the execution, and begins its next run: the same execution under the same id, at the first node, with this input. It keeps its
 * metadata, the latest values of the variables, and the signals that no step has taken; results and the counter of steps begin anew. All other
 * paths end, and completed steps are not undone. The definition is the one that the workflow has now. A parent, and callers that wait for
 * the end, wait on.
 *
 * It needs a runtime. The step fails without one, and also in a sub-workflow, an item of a map, a compensation, or a node that runs at the
 * end (`finally`). If another path has failed before, the execution ends as failed instead. From the 1,000th run in a row on that has lasted
 * less than a second, without an answer, a signal or a timer, each next run begins a second later.
 *
 * ```ts
 * const executor = async (data, step) => {
 *   const count = step.input.count + 1;
 *   return count % 1_000 === 0 ? { continueAs: { input: { count } } } : { data: count };
 * };
 * ```
 */
export interface Continuation {
  /** The input of the next run; it must fit the input schema of the workflow. */
  readonly input?: unknown;
}

/** A message of a schedule: it starts an execution, or cancels one that the schedule has started. */
export type SendRequest =
  | {
      /** Id of a workflow of the runtime. */
      readonly start: string;
      /** Id of the new execution. */
      readonly workflowId: string;
      readonly input?: unknown;
      readonly metadata?: unknown;
      /** Name of the schedule. */
      readonly schedule: string;
      /** The time of the tick, also if the execution begins later. */
      readonly at: EpochMs;
      /** True if the new execution tells the schedule its end, by a signal named `schedule`. */
      readonly reports: boolean;
    }
  | { readonly cancel: string; readonly schedule: string };

/**
 * A signal that the step sends to another execution. Once the signal has arrived, or cannot arrive, the step is performed again, with
 * `resumed: { by: "delivery", payload: { status, output?, error? } }`. With `all`, `output` is `{ reached, refused }`, two numbers.
 */
export interface SignalRequest {
  /** Id of the execution. */
  readonly to?: string | undefined;
  /**
   * True, instead of `to`: the signal goes to all executions of the tenant that wait for it under its `key` when it is delivered. No inbox
   * keeps it.
   */
  readonly all?: boolean | undefined;
  /** With `all`: only executions of this workflow get the signal. */
  readonly workflow?: string | undefined;
  readonly name: string;
  /** The signal is only for waits with the same key. Absent: only for waits without a key. Required with `all`. */
  readonly key?: string | undefined;
  readonly payload?: unknown;
  /** With `to`: how long the inbox of the receiver keeps the signal if no step waits for it yet. Default: 30 days. */
  readonly ttl?: Duration | undefined;
}

/** The children that a step asks for: one sub-workflow, one child for each item of a map, or a detached execution. */
export interface ChildrenRequest {
  /**
   * Name of a definition in the `workflows` of this definition or of one around it, or the id of one of these definitions itself; for a
   * detached execution, id of a workflow of the runtime.
   */
  readonly workflow: string;
  /** Input of the one child. */
  readonly input?: unknown;
  /** Instead of `input`: each item is the input of a child of its own. */
  readonly map?: MapRequest | undefined;
  /**
   * True, to start a detached execution instead of a child. When that execution has ended, the step is performed again, with
   * `resumed: { by: "child", payload: { status, output?, error? } }`.
   */
  readonly detached?: boolean | undefined;
  /** With `detached`: false if the step completes at once, with `{ workflowId }`. Default true: the step waits for the end. */
  readonly wait?: boolean | undefined;
  /** With `detached`: id of the new execution. Default: made from the id of this execution and the place of the step in it. */
  readonly workflowId?: string | undefined;
}

/** The items of a map, and how the map runs them. */
export interface MapRequest {
  readonly items: readonly unknown[];
  /**
   * The most items that run at the same time. An item that only waits (for an answer, a signal or a time) does not count; one that is to be
   * retried does. Default 16, or the limit `mapConcurrency` if that is lower.
   */
  readonly concurrency?: number | undefined;
  /** True if items may be added until the map is closed. */
  readonly open?: boolean | undefined;
  /** The step goes on as soon as this many items are done. Default: when all have ended. */
  readonly completeWhen?: number | undefined;
  /** What then happens to the items that have not ended: `cancel` (default) ends them, `finish` lets them continue. */
  readonly remaining?: "finish" | "cancel" | undefined;
  /** How many items may fail: a number, or a share of all items such as `"10%"`. Default 0. */
  readonly toleratedFailures?: number | string | undefined;
}

/**
 * The code behind a node type.
 *
 * Schemas are Standard Schemas (zod from 3.24, valibot from 1.0, arktype, ...), which also give the types, functions that check
 * (`(data) => schema.parse(data)`), or plain JSON Schemas. Any other object is refused.
 */
export interface NodeDefinition<In = unknown, Out = unknown, Resume = unknown, Handle extends string = string, Globals = unknown> {
  /** Checks, and may transform, the node's data before the executor runs. */
  readonly input?: Schema<unknown, In> | undefined;
  /** Checks, and may transform, what the executor returned. */
  readonly output?: Schema<Out> | undefined;
  /**
   * Checks the payload that resumes the node. A payload that does not fit is refused and changes nothing. If the wait has a `schema` of its
   * own, the answer is checked against that first, and against this before the executor is called.
   *
   * A process without this code uses a JSON Schema that the execution keeps: this one, or the one that a Standard Schema provides (zod from
   * 4.2, arktype from 2.1.28). A function provides none. If this code then refuses a payload that the JSON Schema has accepted, the wait opens again (event
   * `answerRefused`). If there is no such JSON Schema, a process without this code accepts no answer (`CODE_NEEDED`).
   */
  readonly resume?: Schema<unknown, Resume> | undefined;
  /**
   * Names of the output handles; `""` is the default handle. The node fails if `nextHandle` is neither declared nor has an edge, and also
   * if it names no handle while `""` is neither declared nor has an edge. So a typo never ends a path silently.
   */
  readonly handles?: readonly Handle[] | undefined;
  /**
   * True for a type whose steps only wait: the `timeout` of a node limits the wait, and not an attempt. After it, the path leaves by the edge
   * `timeout`, else by `error`, else it fails. If the step suspends with a `timeout` of its own, the shorter one counts. Default: false.
   */
  readonly waits?: boolean | undefined;
  /** For the waits that code asks for: the answer is the output of the step, and the executor is not called again. Default: false. */
  readonly __yields?: boolean | undefined;
  /**
   * Those handles that are failures, such as `fail` of `http`. If no edge leaves by such a handle, the step fails: the path leaves by the
   * edge `error` if there is one, and the step is not retried. The error is the `failure` of the output (default: code `HANDLE_FAILED`), with
   * the data as its `details`. A compensation has no edges, so it fails too. Default: none.
   */
  readonly failures?: readonly Handle[] | undefined;
  /** When failed attempts are repeated. The policy of a node in a workflow overrides it. */
  readonly retryPolicy?: RetryPolicy | undefined;
  /**
   * Names of members of the data that are conditions: it only matters whether they are true. A workflow gets a warning if such a member is
   * a text like `"{{ input.x }} > 3"`, because a text is always true.
   */
  readonly conditions?: readonly string[] | undefined;
  /**
   * Handles by which every step may leave, or a function that gives them for the data of a node as it is written. A workflow gets a warning
   * if no edge leaves by one of them, and another edge leaves the node: the path would end there. Default: none.
   */
  readonly outcomes?: readonly Handle[] | ((data: Json) => readonly string[]) | undefined;
  /** Members of a node that have no effect with this type. A workflow gets a warning if a node has one. Default: none. */
  readonly pointless?: readonly ("timeout" | "retryPolicy" | "heartbeatTimeout")[] | undefined;
  /**
   * Members of the data that are durations: `"timeout"`, and `"timer/for"` for a member inside. A workflow gets a warning if one is text that
   * is no duration. Default: none.
   */
  readonly durations?: readonly string[] | undefined;
  /** Members of the data that are moments: see `durations`. A workflow gets a warning if one is no time that exists. Default: none. */
  readonly moments?: readonly string[] | undefined;
  /**
   * Names of members of the data that limit or guard something, such as `responders` and `timeout`. If an expression in such a member is
   * undefined, the step fails with `DATA_INVALID`; a default is written as in `{{ input.within ?? "7 days" }}`. An undefined member that is
   * not named here is left out of the data, and `input` decides whether it may be missing. Default: none.
   */
  readonly guards?: readonly string[] | undefined;
  /** For the node types that `defineDurable` makes: the schemas of what the code can wait for, and what runs it. */
  readonly "~code"?:
    | {
        readonly waits: Readonly<Record<string, Schema>>;
        readonly signals: Readonly<Record<string, Schema>>;
        /** A `CodeEngine`; node types need not know more of it. */
        readonly engine: object;
      }
    | undefined;
  /** For editors: label, icon, description. */
  readonly metadata?: Readonly<Record<string, Json>> | undefined;
  /** Does the work. If it throws, the retry policy applies, except for a `FatalError` and a `StepfoldError` that is not `retryable`. */
  executor(
    data: In,
    step: StepContext<Resume, Globals>,
  ): NodeOutput<NoInfer<Out>, NoInfer<Handle>> | Promise<NodeOutput<NoInfer<Out>, NoInfer<Handle>>>;
}

/** Node definitions by type name. */
export type NodeDefinitions = Readonly<Record<string, NodeDefinition>>;

/** The globals that one node definition needs; `unknown` if it does not say. */
type GlobalsOfNode<D> = D extends { executor(data: never, step: StepContext<never, infer Globals>): unknown } ? Globals : unknown;
/** The intersection of all members of a union. */
type Intersect<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never;

/** The globals that these nodes need, all together. */
export type GlobalsOf<D extends NodeDefinitions> = Intersect<
  { [K in keyof D]: unknown extends GlobalsOfNode<D[K]> ? Record<never, never> : GlobalsOfNode<D[K]> }[keyof D]
>;
