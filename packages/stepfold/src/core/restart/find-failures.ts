import type { Event, RestartedEvent } from "../snapshot/event.ts";
import type { ActivePath, KeptSignal } from "../snapshot/snapshot.ts";
import type { Draft, ScopeDraft } from "../transition/draft/draft.ts";
import type { DraftPath } from "../transition/draft/draft-path.ts";
import { scopeAt } from "../transition/draft/open-draft.ts";
import { type RunHistory, replay } from "./run-history.ts";

/** What an event has made fail or end in one scope. */
export interface FailedAt {
  readonly event: Event;
  /** The key of the scope; empty for the execution itself. */
  readonly scope: string;
  /** The event itself is the failure, or ends the scope. Else the failure, or the end, follows from the event. */
  readonly isDirect: boolean;
  /** The paths of the scope that have failed. */
  readonly pathIds: readonly string[];
  /** A step that code had asked for has failed. The code has got the error, and has perhaps gone on. */
  readonly isOfCode?: true;
}

/** What has failed in a run. */
export interface RunFailures {
  /** What decided the end of the execution; null if its end is not decided. */
  readonly end: FailedAt | null;
  /** The end was decided by a failure in the `finally` nodes. */
  readonly inFinally: boolean;
  /** Failures of single paths whose scopes went on, oldest first: those since the last restart, and those whose errors code still has. */
  readonly finishing: readonly FailedAt[];
  /** The failures of the children that have failed, by key. */
  readonly children: ReadonlyMap<string, FailedAt>;
  /** The signals that no step has taken at the end of the history. */
  readonly inbox: readonly KeptSignal[];
}

/** Finds what has failed in a run, by a replay of its history. */
export function findFailures(history: RunHistory): RunFailures {
  const found = new Finding();
  replay(history, found);
  return found;
}

/** Whether a scope goes on after an event: it has not ended, and its end is not decided. */
function goesOn(draft: Draft, key: string): boolean {
  const scope = key === "" ? draft : draft.children.get(key);
  return scope !== undefined && "root" in scope && scope.ended === null && !scope.ending && !(key === "" && draft.closing);
}

class Finding implements RunFailures {
  end: FailedAt | null = null;
  inFinally = false;
  finishing: FailedAt[] = [];
  readonly children = new Map<string, FailedAt>();
  inbox: readonly KeptSignal[] = [];
  /** The paths that fail by the present event, by scope. */
  readonly #told = new Map<string, Set<string>>();
  #wouldComplete = false;
  #isClosing = false;
  #answered: ActivePath["waits"];

  readonly before = (draft: Draft | null, event: Event): void => {
    this.#told.clear();
    this.#isClosing = draft?.closing !== undefined;
    this.#wouldComplete = draft?.closing?.status === "completed";
    this.#answered =
      event.type === "resumed" ? scopeAt(draft!, event.scope)?.paths.find(({ id }) => id === event.pathId)?.waits : undefined;
  };

  readonly onFailure = ({ key }: ScopeDraft, path: DraftPath | null): void => {
    const pathIds = this.#told.get(key) ?? new Set();
    if (path) pathIds.add(path.id);
    this.#told.set(key, pathIds);
  };

  readonly after = (draft: Draft, event: Event): void => {
    if (event.type === "restarted") this.#restarted(event);
    const { closing, ended, ending, error } = draft;
    this.inbox = draft.inbox;
    // an execution that would have completed has failed in its `finally` nodes
    const inFinally = this.#wouldComplete && closing === undefined && error !== undefined;
    if (inFinally || (!this.end && (ended !== null || ending !== undefined || closing !== undefined))) {
      this.end = this.#failedAt(event, "");
      this.inFinally = inFinally;
    }
    // what fails in the `finally` nodes does not decide how the execution ends
    if (!this.#isClosing) this.#note(draft, event);
  };

  #failedAt(event: Event, scope: string): FailedAt {
    const isDirect = scopeOf(event) === scope && this.#isFailure(event);
    return { event, scope, isDirect, pathIds: [...(this.#told.get(scope) ?? [])] };
  }

  /** Whether an event is a failure, or the end of a whole scope. */
  #isFailure(event: Event): boolean {
    switch (event.type) {
      case "failed":
        if (event.retryAt !== null || event.incident !== undefined || event.undoes !== undefined) return false;
        return event.handle === undefined || this.#fails(event);
      case "timedOut":
        return event.undoes === undefined && this.#fails(event);
      case "resumed":
        return this.#answered?.[0]?.kind === "incident" && this.#fails(event);
      case "cancelled":
        return event.pathIds === undefined;
      default:
        return event.type === "expired";
    }
  }

  #fails({ scope = "", pathId }: { readonly scope?: string; readonly pathId: string }): boolean {
    return this.#told.get(scope)?.has(pathId) === true;
  }

  #note(draft: Draft, event: Event): void {
    const own = scopeOf(event);
    const isDirect = this.#isFailure(event);
    if (isDirect && !this.#told.has(own)) this.#told.set(own, new Set());
    for (const [key, pathIds] of this.#told) {
      if (!goesOn(draft, key)) {
        if (key !== "") this.children.set(key, this.#failedAt(event, key));
        continue;
      }
      for (const pathId of pathIds) {
        const isOwn = isDirect && key === own && "pathId" in event && event.pathId === pathId;
        const failed = { event, scope: key, isDirect: isOwn, pathIds: [pathId] };
        this.finishing.push(scopeAt(draft, key)!.workflow.code ? { ...failed, isOfCode: true } : failed);
      }
    }
  }

  /** A restart opens again what has failed in the scopes that it opens. Code there still has the errors of steps that are not open again. */
  #restarted({ state: { activePaths, childStates = {} }, since = Number.POSITIVE_INFINITY }: RestartedEvent): void {
    this.end = null;
    this.inFinally = false;
    this.finishing = this.finishing.filter(({ scope, event, isOfCode, pathIds: [pathId] }) => {
      const open = scope === "" ? activePaths : (childStates[scope]?.activePaths ?? []);
      return open.length === 0 || (isOfCode && event.version <= since && open.every(({ id }) => id !== pathId));
    });
  }
}

function scopeOf(event: Event): string {
  return ("scope" in event && event.scope) || "";
}
