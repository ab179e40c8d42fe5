import type { Node, WorkflowDefinition } from "stepfold/core";
import type { LayoutRequest } from "../model/layout/layout-request.ts";
import { type ExecutionState, nodeStateOf } from "../model/replay/execution-state.ts";
import { type Card, cardHeight, cardOf, type Running } from "./card/card.ts";
import { type Ports, portMiddle, portsOf, type TypeHandles } from "./card/ports.ts";
import { drawnDefinition } from "./steps-of-code.ts";

/** A workflow as a graph: what does not change while it runs. */
export interface Graph {
  readonly definition: WorkflowDefinition;
  /** Differs whenever something else is drawn. */
  readonly hash: string;
  readonly nodes: ReadonlyMap<string, Node>;
  readonly ports: ReadonlyMap<string, Ports>;
  /** The number of edges into each node that has any. */
  readonly incoming: ReadonlyMap<string, number>;
  /** The node that holds the code whose steps are drawn in its place. Null: all nodes are drawn. */
  readonly frame: string | null;
}

/** Makes a graph of a definition. @param steps the steps that its code has asked for */
export function graphOf(defined: WorkflowDefinition, hash: string, typeHandles: TypeHandles, steps: readonly string[] = []): Graph {
  const definition = drawnDefinition(defined, steps);
  const incoming = new Map<string, number>();
  for (const { target } of definition.edges) incoming.set(target, (incoming.get(target) ?? 0) + 1);
  return {
    definition,
    // what is drawn changes with the steps
    hash: [hash, ...steps].join(" "),
    nodes: new Map(definition.nodes.map((node) => [node.id, node])),
    ports: portsOf(definition, typeHandles),
    incoming,
    frame: definition === defined ? null : defined.nodes[0]!.id,
  };
}

/** Returns what is laid out: cards as high as they are without a state. */
export function layoutRequest({ definition, ports }: Graph): LayoutRequest {
  const portAt = (source: string, handle: string): number => {
    const own = ports.get(source);
    return own ? portMiddle(own, handle, cardHeight(own, false, false)) : 0;
  };
  return {
    nodes: definition.nodes.map(({ id }) => ({ id, height: cardHeight(ports.get(id)!, false, false) })),
    edges: definition.edges.map(({ source, target, sourceHandle }) => ({ source, target, port: portAt(source, sourceHandle ?? "") })),
  };
}

/**
 * Returns the cards of all nodes, in the order of the definition. Cards that have not changed are the same objects as before.
 *
 * @param runningAt what is known of the attempt that runs at a node
 */
export function cardsOf(
  { nodes, ports, incoming }: Graph,
  state: ExecutionState | null,
  runningAt: (nodeId: string) => Running,
  before: ReadonlyMap<string, Card>,
): ReadonlyMap<string, Card> {
  const parkedCode = state?.folded?.parkedCode ?? null;
  const cards = new Map<string, Card>();
  for (const [id, node] of nodes) {
    const parts = { node, ports: ports.get(id)!, incoming: incoming.get(id) ?? 0, running: runningAt(id), parkedCode };
    const card = cardOf({ ...parts, state: nodeStateOf(state, id) });
    const old = before.get(id);
    cards.set(id, old && isSame(old, card) ? old : card);
  }
  return cards;
}

function isSame(one: Card, other: Card): boolean {
  return one.ports === other.ports && JSON.stringify(one) === JSON.stringify(other);
}
