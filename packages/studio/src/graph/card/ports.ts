import { isJsonObject, type Node, type WorkflowDefinition } from "stepfold/core";
import { headMiddle } from "../../model/layout/layout-request.ts";

/** The handles of a node, as its card shows them. */
export interface Ports {
  /** The default handle has an edge: it sits at the middle of the head. */
  readonly hasDefault: boolean;
  /** The named handles, each with a row of its own. */
  readonly named: readonly string[];
  /** The handles that edges leave from; the default one is the empty text. */
  readonly withEdges: ReadonlySet<string>;
}

/** The most handles of a node that have rows. */
const maxRows = 24;
const noPorts: Ports = { hasDefault: false, named: [], withEdges: new Set() };

/** The names of the handles of node types that are not built in, as far as they are known. */
export type TypeHandles = ReadonlyMap<string, readonly string[]>;

/** Returns the handles of each node: those that edges leave from, and those that its type has in any case. */
export function portsOf({ nodes, edges }: WorkflowDefinition, typeHandles: TypeHandles): ReadonlyMap<string, Ports> {
  const drawn = new Map<string, Set<string>>();
  for (const { source, sourceHandle } of edges) {
    const handles = drawn.get(source) ?? new Set();
    handles.add(sourceHandle ?? "");
    drawn.set(source, handles);
  }
  return new Map(nodes.map((node) => [node.id, portsOfNode(node, drawn.get(node.id), typeHandles)]));
}

function portsOfNode(node: Node, withEdges: ReadonlySet<string> | undefined, typeHandles: TypeHandles): Ports {
  const own = handlesOfType(node) ?? typeHandles.get(node.type)?.filter((handle) => handle !== "") ?? [];
  if (!withEdges && own.length === 0) return noPorts;
  const all = new Set([...own, ...(withEdges ?? [])]);
  const named = [...all].filter((handle) => handle !== "").sort((a, b) => rank(a) - rank(b));
  return { hasDefault: all.has(""), named: named.slice(0, maxRows), withEdges: withEdges ?? new Set() };
}

/** The ways out that failures take come last. */
function rank(handle: string): number {
  return handle === "error" ? 2 : handle === "timeout" ? 1 : 0;
}

/** The types whose handles are told by their edges alone: an http node without the edge `fail` fails instead. */
const byEdges: ReadonlySet<string> = new Set([
  "end",
  "fail",
  "http",
  "map",
  "noop",
  "race",
  "sendSignal",
  "set",
  "signal",
  "wait",
  "workflow",
]);

/** The handles by which a node of a built-in type leaves, whatever edges there are; null: the type is not built in. */
function handlesOfType({ type, data }: Node): string[] | null {
  if (type === "if") return ["true", "false"];
  if (type === "approval") return ["approved", "rejected"];
  if (byEdges.has(type)) return [];
  if (type !== "switch") return null;
  if (!isJsonObject(data) || !Array.isArray(data.cases)) return [];
  return data.cases.flatMap((one) => (isJsonObject(one) && typeof one.handle === "string" ? [one.handle] : []));
}

/** The height of the row of a handle. */
const [rowHeight, paddingTop] = [22, 5];

/** The height of the part of a card with the named handles. */
export function portsHeight({ named }: Ports): number {
  return named.length === 0 ? 0 : paddingTop + 4 + rowHeight * named.length;
}

/** Where the middle of a handle is, below the upper edge of a card. A handle without a row is at the head. */
export function portMiddle(ports: Ports, handle: string, cardHeight: number): number {
  const index = ports.named.indexOf(handle);
  return index < 0 ? headMiddle : cardHeight - portsHeight(ports) + paddingTop + rowHeight * index + rowHeight / 2;
}
