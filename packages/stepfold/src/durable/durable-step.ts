import type { RetryPolicy } from "../core/definition/definition.ts";
import type { UndoneBy } from "../core/snapshot/parts/undone-by.ts";
import type { Duration } from "../core/values/duration.ts";
import type { EpochMs, Json } from "../core/values/json.ts";
import type { Typed } from "../engine/node/typed.ts";
import type { Jsonified } from "./jsonified.ts";

/** When a failed attempt of a step is made again: a retry policy whose `backoff` is `fixed` unless it is given. */
export type StepRetry = Omit<RetryPolicy, "backoff"> & { readonly backoff?: RetryPolicy["backoff"] };

/** Options of `step.run`. */
export interface StepRunOptions {
  /** When a failed attempt is made again. Default: never. The code gets the error once no attempt is left. */
  readonly retry?: StepRetry | undefined;
  /** The longest time of one attempt. Default: that of the engine, 10 minutes. After it the attempt fails with `STEP_TIMEOUT`. */
  readonly timeout?: Duration | undefined;
  /** The longest time between two calls of `heartbeat`, and before the first. Default: no limit. */
  readonly heartbeatTimeout?: Duration | undefined;
  /**
   * What undoes the step if the execution fails or is cancelled after it was begun: a node type of the option `nodes`, and its data. `step.compensating`
   * of that node says what the step has given, and under which key it has acted. The newest step is undone first.
   */
  readonly undo?: UndoneBy | undefined;
  /**
   * True: when all attempts have failed, the step stays open and waits for a decision (a wait of kind `incident`): retry it, skip it with an output, or
   * let it fail, which throws its error. Default: false.
   */
  readonly incident?: boolean | undefined;
}

/** What the function of `step.run` knows about its step. */
export interface RunningStep {
  /** The same for every attempt of the step. Pass it to the service that you call, so that the service recognises a repeated call. */
  readonly idempotencyKey: string;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** Aborted when the attempt no longer counts: on a timeout, a cancellation, or when this process stops. */
  readonly signal: AbortSignal;
  /** Tells plugins that the step is alive, and how far it is; restarts the `heartbeatTimeout`. */
  readonly heartbeat: (progress?: unknown) => void;
}

/** Options of `step.waitFor`. */
export interface StepWaitOptions {
  /** How long to wait. After that the code gets null. Default: for ever. */
  readonly timeout?: Duration | undefined;
  /** Who may answer. Default: anybody. */
  readonly responders?: readonly string[] | undefined;
  /** What those who answer are shown: the `payload` of the wait. */
  readonly payload?: unknown;
}

/** Options of `step.waitFor` for several answers. */
export interface QuorumOptions extends StepWaitOptions {
  /** How many answers of different responders are needed. */
  readonly quorum: number;
  /** Name of a boolean member of the answer: only answers where it is true count, and the wait ends when too few responders are left. */
  readonly tally?: string | undefined;
}

/** One of several answers. */
export interface GivenAnswer<Payload> {
  readonly by: string;
  readonly at: EpochMs;
  readonly payload: Payload;
}

/** Options of `step.signal`. */
export interface SignalWaitOptions {
  /** How long to wait. After that the code gets null. Default: for ever. */
  readonly timeout?: Duration | undefined;
  /** Only a signal with this key counts. Default: only one without a key. */
  readonly key?: string | undefined;
  /** True: a signal that came before the code asked for it does not count. Default: false. */
  readonly transient?: boolean | undefined;
}

/** Options of `step.start`. */
export interface DetachedOptions {
  /** Id of the new execution. Default: made from the id of this one and the number of the step. */
  readonly workflowId?: string | undefined;
  /** The longest time to wait for its end; then the step fails with `STEP_TIMEOUT`. Default: no limit. */
  readonly timeout?: Duration | undefined;
}

/** Options of `step.map`. */
export interface MapOptions {
  /** How many items run at once. An item that only waits does not count. Default: 16. */
  readonly concurrency?: number | undefined;
  /** The map is complete as soon as this many items are done. Default: all. */
  readonly completeWhen?: number | undefined;
  /** What happens to the other items then. Default: `cancel`. */
  readonly remaining?: "finish" | "cancel" | undefined;
  /** How many items may fail: a number, or a share such as `"10%"`. Default: 0. */
  readonly toleratedFailures?: number | string | undefined;
  /** The longest time of all items together. Default: no limit. */
  readonly timeout?: Duration | undefined;
}

/** A signal to another execution. */
export interface SentSignal {
  /** Id of the execution. */
  readonly to: string;
  readonly signal: string;
  readonly payload?: unknown;
  readonly key?: string | undefined;
  /** How long it is kept if nothing waits for it yet. Default: 30 days. */
  readonly ttl?: Duration | undefined;
}

/** A workflow by its id, or with its types. */
type WorkflowRef<In, Out> = string | Typed<In, Out, unknown, unknown, never>;

/** Options of a wait that lasts for ever, so that its answer is never null. */
interface Endless {
  readonly timeout?: undefined;
}

/** What the code returns to go on with the next run of the execution. Made by `step.continueAs`. */
export interface NextRunRequest {
  readonly "~continueAs": { readonly input: unknown };
}

/**
 * What durable code asks for. Each call that has a name is a step: its result is committed before the code gets it, and is the same in every replay.
 * Steps run at once with plain `Promise.all`, `race`, `any` and `allSettled`. Names may repeat, and are 1 to 128 letters, digits, `_` or `-`.
 */
export interface DurableStep<In, Waits, Signals> {
  /**
   * Runs a function once, and again only for a retry or after a crash before its result was committed. Everything that is not the same each time
   * belongs into it: calls of services, chance, clocks. Steps cannot be asked for inside of it.
   *
   * @throws what the function threw in its last attempt, as an `Error` with the same name, message, code and details
   */
  run<T>(name: string, perform: (step: RunningStep) => T | Promise<T>): Promise<Jsonified<T>>;
  run<T>(name: string, options: StepRunOptions, perform: (step: RunningStep) => T | Promise<T>): Promise<Jsonified<T>>;
  /** Waits for a length of time. */
  sleep(name: string, time: Duration): Promise<void>;
  /** Waits until a time: milliseconds since 1970, or ISO 8601 with an offset. */
  sleepUntil(name: string, at: EpochMs | string): Promise<void>;
  /** Waits for an answer from outside, such as `run.resume({ step: name, payload })`. With a `timeout`, the code gets null after it. */
  waitFor<K extends keyof Waits & string>(name: K): Promise<Waits[K]>;
  waitFor<K extends keyof Waits & string>(name: K, options: QuorumOptions & Endless): Promise<readonly GivenAnswer<Waits[K]>[]>;
  waitFor<K extends keyof Waits & string>(name: K, options: QuorumOptions): Promise<readonly GivenAnswer<Waits[K]>[] | null>;
  waitFor<K extends keyof Waits & string>(name: K, options: StepWaitOptions & Endless): Promise<Waits[K]>;
  waitFor<K extends keyof Waits & string>(name: K, options: StepWaitOptions): Promise<Waits[K] | null>;
  /** Waits for a signal by its name. The oldest one that came before, and that nothing has taken, counts. With a `timeout`, the code gets null after it. */
  signal<K extends keyof Signals & string>(name: K): Promise<Signals[K]>;
  signal<K extends keyof Signals & string>(name: K, options: SignalWaitOptions & Endless): Promise<Signals[K]>;
  signal<K extends keyof Signals & string>(name: K, options: SignalWaitOptions): Promise<Signals[K] | null>;
  /** Starts another workflow, and does not wait for its end. */
  start<I, O>(
    name: string,
    workflow: WorkflowRef<I, O>,
    input: NoInfer<I>,
    options: DetachedOptions & { readonly wait: false },
  ): Promise<{ readonly workflowId: string }>;
  /** Starts another workflow as an execution of its own, and waits for its end. @throws the error with which it failed */
  start<I = unknown, O = Json>(
    name: string,
    workflow: WorkflowRef<I, O>,
    input: NoInfer<I>,
    options?: DetachedOptions & { readonly wait?: true | undefined },
  ): Promise<O>;
  /** Runs a workflow of the option `workflows` as a part of this execution. @throws the error with which it failed */
  call<I = unknown, O = Json>(
    name: string,
    workflow: WorkflowRef<I, O>,
    input: NoInfer<I>,
    options?: { readonly timeout?: Duration | undefined },
  ): Promise<O>;
  /** Runs a workflow of the option `workflows` once for each item, as parts of this execution. A failed item that is tolerated gives `{ error }`. */
  map<I = unknown, O = Json>(name: string, items: readonly NoInfer<I>[], workflow: WorkflowRef<I, O>, options?: MapOptions): Promise<O[]>;
  /** Runs any node type as a step. Of a type with handles the code gets `{ handle, data }`. */
  node<T = Json>(name: string, type: string, data?: unknown, options?: Omit<StepRunOptions, "undo">): Promise<T>;
  /** Sends a signal to another execution, and goes on when that has it. */
  send(name: string, signal: SentSignal): Promise<void>;
  /** Changes metadata of the execution: members replace the values with the same key, null removes a key. */
  setMetadata(name: string, patch: Readonly<Record<string, unknown>>): Promise<void>;
  /**
   * Guards code that was inserted later: true for executions that have not come to this place yet, and false for those that have gone on behind it.
   * See docs/guides/changing.md.
   */
  changed(name: string): boolean;
  /** The time of what the code got last; at first the time at which the run began. The same in every replay. */
  now(): EpochMs;
  /** A number from 0 to 1, without 1. The same in every replay. */
  random(): number;
  /** A random UUID. The same in every replay. */
  uuid(): string;
  /** `return step.continueAs(input)` ends this run, and begins the next run of the same execution. */
  continueAs(input: In): NextRunRequest;
}
