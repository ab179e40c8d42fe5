import { type Event, type SignalledEvent, type Snapshot, waits } from "stepfold";
import { inScope, openPaths, pathNamed, scopeOf } from "../execution/scope.ts";

/** A signal that a path waits for. */
interface Listening {
  readonly waitId: string;
  readonly name: string;
  readonly key: string | undefined;
}

/** Knows the places of an execution from what was seen of it, so that every event can be told with its place. */
export interface Trail {
  /** To be told of every event, before it is written about. */
  see(event: Event): void;
  /** Address of a node: `approve`, `map[3]/approve`. */
  address(scope: string | undefined, nodeId: string): string;
  /** Address of the node at which a path was seen last. */
  at(scope: string | undefined, pathId: string): string;
  /** What a child is called: `map[3]`, `sub`. */
  child(scope: string): string;
  /** Items of the largest map around a scope, 0 if there is none. */
  crowd(scope: string | undefined): number;
  /** Address of the wait that took a signal; `kept` if none did, null if that cannot be told. @param after the snapshot after it */
  taker(event: SignalledEvent, after: Snapshot | null): string | "kept" | null;
}

/** @param from what is known before the first event; none: the first event is the execution's first */
export function trail(from?: Snapshot): Trail {
  const nodes = new Map<string, string>();
  const owners = new Map<string, { readonly nodeId: string; readonly items: number }>();
  const listening = new Map<string, readonly Listening[]>();

  const address = (scope: string | undefined, nodeId: string): string => (scope ? `${child(scope)}/${nodeId}` : nodeId);
  const child = (scope: string): string => {
    const [group = "", item] = splitItem(scope);
    const owner = address(scopeOf(scope), owners.get(group)?.nodeId ?? "?");
    return item === undefined ? owner : `${owner}[${item}]`;
  };
  const at = (scope: string | undefined, pathId: string): string => address(scope, nodes.get(inScope(scope, pathId)) ?? pathId);

  for (const [scope, { id, nodeId, children }] of from ? openPaths(from) : []) {
    nodes.set(inScope(scope, id), nodeId);
    if (children) owners.set(inScope(scope, children.key), { nodeId, items: children.map?.total ?? 0 });
  }
  for (const { id: waitId, signal: name, key } of from ? waits(from) : []) {
    const path = waitId.slice(0, waitId.lastIndexOf("@"));
    if (name !== undefined) listening.set(path, [...(listening.get(path) ?? []), { waitId, name, key }]);
  }
  return {
    address,
    child,
    at,
    see(event) {
      for (const { scope, pathId } of event.consequences?.ended ?? []) listening.delete(inScope(scope, pathId));
      if (!("pathId" in event)) return;
      const path = inScope(event.scope, event.pathId);
      if ("nodeId" in event) nodes.set(path, event.nodeId);
      listening.delete(path);
      if (event.type === "spawned")
        owners.set(`${path}#${event.visit}`, { nodeId: event.nodeId, items: event.children.map?.items.length ?? 0 });
      if (event.type !== "suspended") return;
      const signals = event.waits.flatMap(({ id: waitId, signal: name, key }) => (name === undefined ? [] : [{ waitId, name, key }]));
      if (signals.length > 0) listening.set(path, signals);
    },
    crowd(scope) {
      let most = 0;
      for (let key = scope ?? ""; key !== ""; key = scopeOf(key)) most = Math.max(most, owners.get(splitItem(key)[0]!)?.items ?? 0);
      return most;
    },
    taker({ name, key }, after) {
      const meant = [...listening].filter(([, signals]) => signals.some((one) => one.name === name && one.key === key));
      const took = after ? meant.filter(([path]) => !pathNamed(after, path)?.waits) : meant;
      const [path] = took.length === 1 ? took[0]! : [undefined];
      if (path !== undefined) {
        listening.delete(path);
        return at(scopeOf(path), path.slice(scopeOf(path) === "" ? 0 : scopeOf(path).length + 1));
      }
      return took.length === 0 && after?.inbox?.some((kept) => kept.name === name && kept.key === key) ? "kept" : null;
    },
  };
}

/** `0#1/3` is item 3 of the children of `0#1`. */
function splitItem(scope: string): string[] {
  const slash = scope.indexOf("/", scopeOf(scope).length);
  return slash < 0 ? [scope] : [scope.slice(0, slash), scope.slice(slash + 1)];
}
