import { belongsTo, scopedKey } from "../snapshot/address.ts";
import type { Event } from "../snapshot/event.ts";
import type { ActivePath, ChildState, Snapshot } from "../snapshot/snapshot.ts";
import { closeChild, closeDraft } from "../transition/draft/close-draft.ts";
import type { Draft } from "../transition/draft/draft.ts";
import { closePath } from "../transition/draft/draft-path.ts";
import { openDraft, scopeAt } from "../transition/draft/open-draft.ts";
import { evolveUnfailed } from "../transition/evolve.ts";
import type { EpochMs, Json } from "../values/json.ts";
import type { FailedAt, RunFailures } from "./find-failures.ts";
import { firstDraft, type RunHistory, replay } from "./run-history.ts";

/** A part of an execution as it was when something in it had not failed yet. */
export interface OpenedPart {
  readonly failed: FailedAt;
  /** The paths that have failed in a scope that went on. */
  readonly paths: readonly (readonly [scope: string, path: ActivePath])[];
  /** The children of these paths, or the child that has failed, with all children inside them. */
  readonly children: readonly (readonly [key: string, child: ChildState])[];
  readonly mapItems: readonly (readonly [key: string, items: readonly Json[]])[];
}

/** The state from which a run can go on again, and the parts that failed before. */
export interface OpenedRun {
  /** The execution before its end was decided, or after that event as far as nothing fails by it. */
  readonly base: Snapshot;
  /** When the end was decided. */
  readonly leftAt: EpochMs;
  readonly finishing: readonly OpenedPart[];
  /** By the key of the child. */
  readonly children: ReadonlyMap<string, OpenedPart>;
}

/** Collects, by a replay, the states of a run in which what has failed had not failed yet. The end of the run must be decided. */
export function openedParts(history: RunHistory, failures: RunFailures): OpenedRun {
  const end = failures.end!;
  const wanted = wantedParts(failures);
  const finishing: OpenedPart[] = [];
  const children = new Map<string, OpenedPart>();
  let base: Snapshot | null = null;
  const take = (event: Event, state: () => Draft): void => {
    if (event === end.event) base = closeDraft(state());
    for (const { failed, child } of wanted.get(event) ?? []) {
      const part = partOf(state(), failed, child);
      if (child === null) finishing.push(part);
      else children.set(child, part);
    }
  };
  const [first] = history.events;
  take(first, () => firstDraft(history, { noted: [], holdsBack: true }));
  replay(history, {
    before(draft, event) {
      if (event !== end.event && !wanted.has(event)) return;
      const { isDirect } = wanted.get(event)?.[0]?.failed ?? end;
      let state: Draft | null = isDirect ? draft : null;
      take(event, () => (state ??= unfailed(draft, event)));
    },
    after: (_draft, event) => event !== end.event,
  });
  return { base: base!, leftAt: end.event.at, finishing, children };
}

interface Wanted {
  readonly failed: FailedAt;
  /** The key of the child that has failed; null for paths whose scope went on. */
  readonly child: string | null;
}

function wantedParts({ finishing, children }: RunFailures): Map<Event, Wanted[]> {
  const wanted = new Map<Event, Wanted[]>();
  const add = (one: Wanted): void => void wanted.set(one.failed.event, [...(wanted.get(one.failed.event) ?? []), one]);
  for (const failed of finishing) add({ failed, child: null });
  for (const [child, failed] of children) add({ failed, child });
  return wanted;
}

/** Returns the execution after an event, as far as nothing fails by it. */
function unfailed(draft: Draft, event: Event): Draft {
  const copy = openDraft(draft.workflow, closeDraft(draft));
  evolveUnfailed(copy, event);
  return copy;
}

function partOf(draft: Draft, failed: FailedAt, child: string | null): OpenedPart {
  const paths = child === null ? failed.paths.map(({ scope, pathId }) => pathIn(draft, scope, pathId)) : [];
  const roots = child === null ? paths.flatMap(([scope, { children }]) => (children ? [scopedKey(scope, children.key)] : [])) : [child];
  const isInside = (key: string): boolean => roots.some((root) => belongsTo(key, root));
  const hasInner = child === null || holdsChildren(draft, child);
  const children: [string, ChildState][] = [];
  if (!hasInner) children.push([child, closeChild(draft.children.get(child)!)]);
  else for (const [key, inner] of draft.children) if (isInside(key)) children.push([key, closeChild(inner)]);
  const mapItems = hasInner ? [...draft.mapItems].filter(([key]) => isInside(key)) : [];
  return { failed, paths, children, mapItems };
}

/** Whether a child holds other children: only then all children of the execution have to be searched. */
function holdsChildren(draft: Draft, key: string): boolean {
  return scopeAt(draft, key)!.paths.some(({ children }) => children !== undefined);
}

function pathIn(draft: Draft, scope: string, pathId: string): readonly [string, ActivePath] {
  return [scope, closePath(scopeAt(draft, scope)!.paths.find(({ id }) => id === pathId)!)];
}
