import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { GlobalsOf, NodeDefinitions } from "./node-definition.ts";
import type { Schema, Schemas } from "./standard-schema.ts";

/** A wait of a workflow, with the type of its answer. */
export interface WaitToken<Payload = unknown, Step extends string = string> {
  /** The step that waits: its node id. */
  readonly step: Step;
  /** Only for the compiler: the value does not exist. */
  readonly "~payload"?: Payload;
}

/** A signal that a workflow waits for, with the type of its payload. */
export interface SignalToken<Payload = unknown, Name extends string = string> {
  /** Name of the signal. */
  readonly signal: Name;
  /** Only for the compiler: the value does not exist. */
  readonly "~payload"?: Payload;
}

/** The payloads of answers or signals, by name. */
export type PayloadTypes = Readonly<Record<string, unknown>>;

/**
 * A workflow with the types of what callers give it and get from it, and the code of its node types. `defineDurable` makes it, and
 * `defineWorkflow` with schemas. A runtime or an engine that gets it knows its node types too.
 *
 * ```ts
 * const run = await runtime.start(trial, { input: { email: "ada@example.org" } }); // the input is checked by the compiler
 * await run.signal(trial.signals.upgrade, { plan: "team" });
 * const { plan } = await run.result();
 * ```
 */
export interface Typed<In = unknown, Out = unknown, Waits = PayloadTypes, Signals = PayloadTypes, Globals = unknown> {
  readonly id: string;
  /** The definition, as JSON. */
  readonly definition: WorkflowDefinition;
  /** The node definitions that the definition needs, by type; without built-in ones. */
  readonly nodes: NodeDefinitions;
  /** What callers can answer, by name. */
  readonly waits: { readonly [K in keyof Waits & string]: WaitToken<Waits[K], K> };
  /** What callers can send, by name. */
  readonly signals: { readonly [K in keyof Signals & string]: SignalToken<Signals[K], K> };
  /** The schema of the input, with which `start` checks it. */
  readonly "~input"?: Schema | undefined;
  /** Only for the compiler: the value does not exist. */
  readonly "~types"?: {
    readonly input: (input: In) => void;
    readonly output: Out;
    readonly waits: Waits;
    readonly signals: Signals;
    readonly globals: (globals: Globals) => void;
  };
}

/** A typed workflow, whatever its types are. */
export type AnyTyped = Typed<never, unknown, unknown, unknown, never>;

/** One of the waits whose payloads are `Waits`. */
export type WaitOf<Waits> = { readonly [K in keyof Waits & string]: WaitToken<Waits[K], K> }[keyof Waits & string];
/** One of the signals whose payloads are `Signals`. */
export type SignalOf<Signals> = { readonly [K in keyof Signals & string]: SignalToken<Signals[K], K> }[keyof Signals & string];

/** Returns the tokens of the waits and signals for which there are schemas. Only the compiler knows their types. */
export function tokensOf({ waits = {}, signals = {} }: { readonly waits?: Schemas | undefined; readonly signals?: Schemas | undefined }): {
  readonly waits: never;
  readonly signals: never;
} {
  const tokens = (schemas: Schemas, make: (name: string) => WaitToken | SignalToken): never =>
    Object.fromEntries(Object.keys(schemas).map((name) => [name, make(name)])) as never;
  return { waits: tokens(waits, (step) => ({ step })), signals: tokens(signals, (signal) => ({ signal })) };
}

/** The globals that these workflows need, all together: those of a union of functions' parameters are their intersection. */
type GlobalsOfWorkflows<W> = (
  W extends Typed<never, unknown, unknown, unknown, infer Globals>
    ? (globals: Globals) => void
    : never
) extends (globals: infer All) => void
  ? All
  : unknown;

/** The globals that these nodes and these workflows need, all together. */
export type NeededGlobals<D extends NodeDefinitions, W> = GlobalsOf<D> & GlobalsOfWorkflows<W>;

/** The option `globals`: required if some are needed, otherwise optional. */
export type GivenGlobals<Needed> =
  Record<never, never> extends Needed ? { readonly globals?: Needed | undefined } : { readonly globals: Needed };
/** The option `globals` for these nodes and these workflows. */
export type GlobalsOption<D extends NodeDefinitions, W = unknown> = GivenGlobals<NeededGlobals<D, W>>;

/** True for a typed workflow. A definition has a list of `nodes`, and a typed workflow has node definitions by type. */
export function isTyped(value: unknown): value is AnyTyped {
  if (typeof value !== "object" || value === null) return false;
  try {
    const { definition, nodes } = value as { readonly definition?: unknown; readonly nodes?: unknown };
    return typeof definition === "object" && definition !== null && typeof nodes === "object" && nodes !== null && !Array.isArray(nodes);
  } catch {
    // a proxy or a getter that throws
    return false;
  }
}
