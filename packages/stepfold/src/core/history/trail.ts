import { waits } from "../explain/waits.ts";
import { groupOf, itemOf, localKey, parentKey, pathNamed, scopedKey } from "../snapshot/address.ts";
import type { Event, SignalledEvent, SuspendedEvent } from "../snapshot/event.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { openPaths } from "../snapshot/target.ts";

/** A signal that a path waits for. */
interface Listening {
  readonly waitId: string;
  readonly name: string;
  readonly key: string | undefined;
}

/** The node that a child belongs to. */
interface Owner {
  readonly nodeId: string;
  /** The number of items of its map; 0 for a sub-workflow. */
  readonly items: number;
}

/** Remembers where the paths of an execution stand, from the events that it has seen, so that every event can be shown with its address. */
export interface Trail {
  /** Takes in an event. It must get every event, before that event is shown. */
  see(event: Event): void;
  /** Address of a node: `approve`, `map[3]/approve`. */
  address(scope: string | undefined, nodeId: string): string;
  /** Address of the node at which a path was seen last. */
  at(scope: string | undefined, pathId: string): string;
  /** Address of a child: `map[3]`, `sub`. */
  child(scope: string): string;
  /**
   * Whether a path is that of a step which code has asked for. Its id begins with that of the path of the code, as the id of a fork begins with
   * that of a path: but code stays at its node while it asks for steps, and a path forks when it leaves its node.
   */
  isAskedFor(scope: string | undefined, pathId: string): boolean;
  /** The number of items of the largest map around a scope; 0 if there is none. */
  crowd(scope: string | undefined): number;
  /**
   * Address of the wait that took a signal; `kept` if no wait took it, null if that is unknown.
   *
   * @param after the snapshot after the event
   */
  taker(event: SignalledEvent, after: Snapshot | null): string | "kept" | null;
}

/** Makes a trail. @param from the execution before the first event that is seen. Default: that event is the first one of the execution */
export function trail(from?: Snapshot): Trail {
  const known: SeenPaths = { nodes: new Map(), owners: new Map(), listening: new Map(), moved: new Set() };
  const { nodes, owners, listening, moved } = known;
  /** The signals that each path waited for last. */
  const heard = new Map<string, readonly Listening[]>();

  const ownerOf = (child: string): Owner | undefined => owners.get(scopedKey(parentKey(child), groupOf(child)));
  const address = (scope: string | undefined, nodeId: string): string => (scope ? `${child(scope)}/${nodeId}` : nodeId);
  const child = (scope: string): string => {
    const item = itemOf(scope);
    const owner = address(parentKey(scope), ownerOf(scope)?.nodeId ?? "?");
    return item === null ? owner : `${owner}[${item}]`;
  };
  const at = (scope: string | undefined, pathId: string): string => address(scope, nodes.get(scopedKey(scope ?? "", pathId)) ?? pathId);

  if (from) learn(from, known);
  return {
    address,
    child,
    at,
    isAskedFor: (scope, pathId) => pathId.includes(".") && !moved.has(scopedKey(scope ?? "", codeOf(pathId))),
    see(event) {
      if (event.type === "started" && event.checkpoint) learn(event.checkpoint.state, known);
      // the paths of the run before have ended
      if (event.type === "continued" || event.type === "restarted") for (const seen of [listening, heard, moved]) seen.clear();
      if (event.type === "restarted") learn(event.state, known);
      for (const { scope, result } of event.consequences?.results ?? []) moved.add(scopedKey(scope ?? "", result.pathId));
      for (const { scope, pathId } of event.consequences?.ended ?? []) listening.delete(scopedKey(scope ?? "", pathId));
      if (!("pathId" in event)) return;
      const path = scopedKey(event.scope ?? "", event.pathId);
      if ("nodeId" in event && event.nodeId !== undefined) nodes.set(path, event.nodeId);
      listening.delete(path);
      if (event.type === "completed" || ("handle" in event && event.handle !== undefined)) moved.add(path);
      if (event.type === "spawned")
        owners.set(`${path}#${event.visit}`, { nodeId: event.nodeId, items: event.children.map?.items.length ?? 0 });
      // the path waits for the same signals once more
      const again = event.type === "answerRefused" ? heard.get(path) : undefined;
      if (again) listening.set(path, again);
      const signals = event.type === "suspended" ? signalsOf(event) : [];
      if (signals.length === 0) return;
      listening.set(path, signals);
      heard.set(path, signals);
    },
    crowd(scope) {
      let most = 0;
      for (let key = scope ?? ""; key !== ""; key = parentKey(key)) most = Math.max(most, ownerOf(key)?.items ?? 0);
      return most;
    },
    taker({ name, key }, after) {
      const meant = [...listening].filter(([, signals]) => signals.some((one) => one.name === name && one.key === key));
      const took = after ? meant.filter(([path]) => !pathNamed(after, path)?.waits) : meant;
      const [path] = took.length === 1 ? took[0]! : [undefined];
      if (path !== undefined) {
        listening.delete(path);
        return at(parentKey(path), localKey(path));
      }
      return took.length === 0 && after?.inbox?.some((kept) => kept.name === name && kept.key === key) ? "kept" : null;
    },
  };
}

/** What is known of the paths of an execution. */
interface SeenPaths {
  /** The node at which each path was seen last. */
  readonly nodes: Map<string, string>;
  /** The node of each group of children, by the key of the group. */
  readonly owners: Map<string, Owner>;
  /** The signals that each path waits for. */
  readonly listening: Map<string, readonly Listening[]>;
  /** The paths that have left a node, or that had ended when the trail began. */
  readonly moved: Set<string>;
}

function signalsOf({ waits: open }: SuspendedEvent): Listening[] {
  return open.flatMap(({ id: waitId, signal: name, key }) => (name === undefined ? [] : [{ waitId, name, key }]));
}

/** Returns the id of the path of the code that has asked for the step of a path, if code has. */
function codeOf(pathId: string): string {
  return pathId.slice(0, pathId.lastIndexOf("."));
}

/** Takes in the open paths and waits of an execution. */
function learn(state: Pick<Snapshot, "activePaths" | "childStates">, { nodes, owners, listening, moved }: SeenPaths): void {
  const open = [...openPaths(state)];
  const names = new Set(open.map(({ scope, path }) => scopedKey(scope, path.id)));
  for (const { scope, path } of open) {
    const { id, nodeId, children, stepPath = [] } = path;
    nodes.set(scopedKey(scope, id), nodeId);
    if (stepPath.length > 0) moved.add(scopedKey(scope, id));
    // code does not end before its steps
    const code = scopedKey(scope, codeOf(id));
    if (!names.has(code)) moved.add(code);
    if (children) owners.set(scopedKey(scope, children.key), { nodeId, items: children.map?.total ?? 0 });
  }
  for (const { id: waitId, signal: name, key } of waits(state)) {
    const path = waitId.slice(0, waitId.lastIndexOf("@"));
    if (name !== undefined) listening.set(path, [...(listening.get(path) ?? []), { waitId, name, key }]);
  }
}
