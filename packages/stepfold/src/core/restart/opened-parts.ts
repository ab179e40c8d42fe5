import { belongsTo, scopedKey } from "../snapshot/address.ts";
import type { Event, FailedEvent } from "../snapshot/event.ts";
import type { ActivePath, ChildState, Snapshot } from "../snapshot/snapshot.ts";
import { closeChild, closeDraft } from "../transition/draft/close-draft.ts";
import type { Draft, ScopeDraft } from "../transition/draft/draft.ts";
import { closePath, type DraftPath } from "../transition/draft/draft-path.ts";
import { scopeAt } from "../transition/draft/open-draft.ts";
import type { EpochMs, Json } from "../values/json.ts";
import type { FailedAt, RunFailures } from "./find-failures.ts";
import { type RunHistory, replay } from "./run-history.ts";

/** A part of an execution as it was just before it failed. */
export interface OpenedPart {
  readonly failed: FailedAt;
  /** The path that has failed in a scope that went on; null if a whole child has failed. */
  readonly path: ActivePath | null;
  /** The children of the path, or the child that has failed, with all children inside them. */
  readonly children: readonly (readonly [key: string, child: ChildState])[];
  readonly mapItems: readonly (readonly [key: string, items: readonly Json[]])[];
}

/** The state from which a run can go on again, and the parts that failed before. */
export interface OpenedRun {
  /** The execution just before it failed or was cancelled; the last one if neither is decided. */
  readonly base: Snapshot;
  /** When the end was decided; else the time of the last event. */
  readonly leftAt: EpochMs;
  readonly finishing: readonly OpenedPart[];
  /** By the key of the child. */
  readonly children: ReadonlyMap<string, OpenedPart>;
}

/** Collects, by a replay, each part of a run as it was just before it failed. The base is the last state if the end is not decided. */
export function openedParts(history: RunHistory, failures: RunFailures): OpenedRun {
  const { end } = failures;
  const last = end?.event ?? history.events.at(-1)!;
  const finishing: OpenedPart[] = [];
  const children = new Map<string, OpenedPart>();
  let base: Snapshot | null = null;
  const captures = new Captures();
  const captureBase = (draft: Draft): void => {
    base = closeDraft(draft);
  };
  if (end) captures.add(end, null, captureBase);
  for (const failed of failures.finishing) captures.add(failed, failed.pathIds[0]!, (draft) => finishing.push(pathPart(draft, failed)));
  for (const [key, failed] of failures.children) captures.add(failed, null, (draft) => children.set(key, childPart(draft, failed)));
  const { before, onFailure } = captures;
  const after = (draft: Draft, event: Event): boolean => {
    if (event === last && !end) captureBase(draft);
    return event !== last;
  };
  replay(history, { before, onFailure, after });
  return { base: base!, leftAt: last.at, finishing, children };
}

type Capture = (draft: Draft) => unknown;

/** Captures states in a replay: before an event that is a failure, else just before something fails by it. */
class Captures {
  readonly #direct = new Map<Event, Capture[]>();
  /** By the scope that fails, or by the name of a path. */
  readonly #following = new Map<Event, Map<string, Capture>>();
  #present: Map<string, Capture> | undefined;

  /** @param pathId null if the state just before the first failure in the scope is wanted */
  add({ event, scope, isDirect }: FailedAt, pathId: string | null, capture: Capture): void {
    if (isDirect) {
      this.#direct.set(event, [...(this.#direct.get(event) ?? []), capture]);
      return;
    }
    const following = this.#following.get(event) ?? new Map<string, Capture>();
    this.#following.set(event, following.set(nameOf(scope, pathId), capture));
  }

  readonly before = (draft: Draft | null, event: Event): void => {
    this.#present = this.#following.get(event);
    for (const capture of this.#direct.get(event) ?? []) capture(draft!);
  };

  readonly onFailure = ({ root, key }: ScopeDraft, path: DraftPath | null): void => {
    this.#capture(root, nameOf(key, null));
    if (path) this.#capture(root, nameOf(key, path.id));
  };

  #capture(draft: Draft, name: string): void {
    const capture = this.#present?.get(name);
    this.#present?.delete(name);
    capture?.(draft);
  }
}

function nameOf(scope: string, pathId: string | null): string {
  return `${scope} ${pathId ?? ""}`;
}

function pathPart(draft: Draft, failed: FailedAt): OpenedPart {
  const path = scopeAt(draft, failed.scope)!.paths.find(({ id }) => id === failed.pathIds[0]);
  if (!path) return { failed, path: beforeFirstEvent(failed), children: [], mapItems: [] };
  const inside = path.children ? partsInside(draft, scopedKey(failed.scope, path.children.key)) : { children: [], mapItems: [] };
  return { failed, path: closePath(path), ...inside };
}

/** The path of a step that code has asked for and that has failed by its first event, with which the path came into being. */
function beforeFirstEvent({ event }: FailedAt): ActivePath {
  const { pathId: id, nodeId, turn, version } = event as FailedEvent;
  return { id, nodeId, status: "ready", turn, visit: turn, attempts: 0, since: version - 1, stepPath: [] };
}

function childPart(draft: Draft, failed: FailedAt): OpenedPart {
  // only if the child holds others, all children of the execution have to be searched
  const holdsOthers = scopeAt(draft, failed.scope)!.paths.some(({ children }) => children !== undefined);
  if (holdsOthers) return { failed, path: null, ...partsInside(draft, failed.scope) };
  return { failed, path: null, children: [[failed.scope, closeChild(draft.children.get(failed.scope)!)]], mapItems: [] };
}

function partsInside(draft: Draft, root: string): Pick<OpenedPart, "children" | "mapItems"> {
  return {
    children: [...draft.children].flatMap(([key, child]) => (belongsTo(key, root) ? [[key, closeChild(child)] as const] : [])),
    mapItems: [...draft.mapItems].filter(([key]) => belongsTo(key, root)),
  };
}
