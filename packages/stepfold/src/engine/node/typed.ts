import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { NodeDefinitions } from "./node-definition.ts";

/** A wait of a workflow, with the type of its answer. */
export interface WaitToken<Payload = unknown> {
  /** The step that waits: its node id. */
  readonly step: string;
  /** Only for the compiler: the value does not exist. */
  readonly "~payload"?: Payload;
}

/** A signal that a workflow waits for, with the type of its payload. */
export interface SignalToken<Payload = unknown> {
  readonly signal: string;
  /** Only for the compiler: the value does not exist. */
  readonly "~payload"?: Payload;
}

/** The payloads of answers or signals, by name. */
export type PayloadTypes = Readonly<Record<string, unknown>>;

/**
 * A workflow with the types of what callers give it and get from it, and the code of its node types. `defineDurable` makes it. A runtime or an
 * engine that gets it knows its node types too.
 */
export interface Typed<In = unknown, Out = unknown, Waits = PayloadTypes, Signals = PayloadTypes> {
  readonly id: string;
  /** The definition, as JSON. */
  readonly definition: WorkflowDefinition;
  /** The node definitions that the definition needs, by type; without built-in ones. */
  readonly nodes: NodeDefinitions;
  /** What callers can answer, by name. */
  readonly waits: { readonly [K in keyof Waits]: WaitToken<Waits[K]> };
  /** What callers can send, by name. */
  readonly signals: { readonly [K in keyof Signals]: SignalToken<Signals[K]> };
  /** Only for the compiler: the value does not exist. */
  readonly "~types"?: { readonly input: In; readonly output: Out; readonly waits: Waits; readonly signals: Signals };
}

/** A typed workflow, whatever its types are. */
export type AnyTyped = Pick<Typed, "id" | "definition" | "nodes">;

/** True for a typed workflow. A definition has a list of `nodes`, and a typed workflow has node definitions by type. */
export function isTyped(value: unknown): value is AnyTyped {
  if (typeof value !== "object" || value === null) return false;
  const { definition, nodes } = value as { readonly definition?: unknown; readonly nodes?: unknown };
  return typeof definition === "object" && definition !== null && typeof nodes === "object" && nodes !== null && !Array.isArray(nodes);
}
