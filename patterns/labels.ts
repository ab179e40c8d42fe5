import type { ActivePath, Event, Snapshot } from "stepfold";

/**
 * Converts the events of one execution to labels. It remembers the visits that it has seen, so each execution needs an instance of its
 * own.
 */
export class Labels {
  readonly #seen: Set<string>;

  constructor(seen: Iterable<string> = []) {
    this.#seen = new Set(seen);
  }

  /** The visits that were seen, with which another instance can go on from here. */
  get seen(): string[] {
    return [...this.#seen];
  }

  /**
   * Returns the labels of one transition, in the order that the oracle expects: the event's own label, then its consequences at other
   * nodes, then the nodes that became ready.
   *
   * @param script the label of the script's step that caused the event
   */
  of(event: Event, after: Snapshot, script?: string): string[] {
    const labels = script === undefined ? [] : [`!${script}`];
    if (event.type === "completed" && !event.undoes) labels.push(`-${event.nodeId}`);
    if ((event.type === "failed" && event.retryAt === null && !event.undoes) || event.type === "timedOut") labels.push(`x${event.nodeId}`);
    for (const { nodeId, result } of event.consequences?.results ?? []) labels.push(`${result.error === undefined ? "-" : "x"}${nodeId}`);
    for (const [scope, path] of openPaths(after)) {
      const visit = `${scope}>${path.id}#${path.visit}`;
      if (path.status === "held" || path.status === "joining" || path.draining || path.undoes || this.#seen.has(visit)) continue;
      this.#seen.add(visit);
      labels.push(`+${path.nodeId}`);
    }
    return labels;
  }
}

function openPaths({ activePaths, childStates = {} }: Snapshot): [scope: string, path: ActivePath][] {
  const paths = activePaths.map((path): [string, ActivePath] => ["", path]);
  for (const [key, child] of Object.entries(childStates)) for (const path of child.activePaths) paths.push([key, path]);
  return paths;
}
