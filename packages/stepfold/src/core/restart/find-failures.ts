import type { Event } from "../snapshot/event.ts";
import type { ActivePath, KeptSignal } from "../snapshot/snapshot.ts";
import type { Draft } from "../transition/draft/draft.ts";
import type { Failure } from "../transition/draft/failures.ts";
import { scopeAt } from "../transition/draft/open-draft.ts";
import { type RunHistory, replay } from "./run-history.ts";

/** An event that has made something fail or end. */
export interface FailedAt {
  readonly event: Event;
  /** The event itself is the failure: it must not be applied. Else the failure follows from the event, and only that is undone. */
  readonly isDirect: boolean;
  /** The paths that have failed. */
  readonly paths: readonly (Failure & { readonly pathId: string })[];
}

/** What has failed in a run. */
export interface RunFailures {
  /** What decided the end of the execution; null if its end is not decided. */
  readonly end: FailedAt | null;
  /** The end was decided by a failure in the `finally` nodes. */
  readonly inFinally: boolean;
  /** Failures of paths whose scopes went on, oldest first, since the last restart. */
  readonly finishing: readonly FailedAt[];
  /** The failures of the children that have failed, by key. */
  readonly children: ReadonlyMap<string, FailedAt>;
  /** The signals that no step has taken at the end of the history. */
  readonly inbox: readonly KeptSignal[];
}

/** Finds what has failed in a run, by a replay of its history. */
export function findFailures(history: RunHistory): RunFailures {
  const found = new Finding();
  replay(history, found, found.notes);
  return found;
}

/** Whether a scope goes on after an event: it has not ended, and its end is not decided. */
function goesOn(draft: Draft, key: string): boolean {
  const scope = key === "" ? draft : draft.children.get(key);
  return scope !== undefined && "root" in scope && scope.ended === null && !scope.ending && !(key === "" && draft.closing);
}

class Finding implements RunFailures {
  readonly notes = { noted: [] as Failure[], holdsBack: false };
  end: FailedAt | null = null;
  inFinally = false;
  finishing: FailedAt[] = [];
  readonly children = new Map<string, FailedAt>();
  inbox: readonly KeptSignal[] = [];
  #wouldComplete = false;
  #isClosing = false;
  #answered: ActivePath["waits"];

  readonly before = (draft: Draft, event: Event): void => {
    this.notes.noted.length = 0;
    this.#isClosing = draft.closing !== undefined;
    this.#wouldComplete = draft.closing?.status === "completed";
    this.#answered = event.type === "resumed" ? scopeAt(draft, event.scope)?.paths.find(({ id }) => id === event.pathId)?.waits : undefined;
  };

  readonly after = (draft: Draft, event: Event): void => {
    if (event.type === "restarted") this.#restarted(event.state.childStates ?? {});
    const failed = this.#failedAt(event);
    const { closing, ended, ending, error } = draft;
    this.inbox = draft.inbox;
    // an execution that would have completed has failed in its `finally` nodes
    const inFinally = this.#wouldComplete && closing === undefined && error !== undefined;
    if (inFinally || (!this.end && (ended !== null || ending !== undefined || closing !== undefined))) {
      this.end = failed;
      this.inFinally = inFinally;
    }
    // what fails in the `finally` nodes does not decide how the execution ends
    if (!this.#isClosing) this.#note(draft, failed);
  };

  #failedAt(event: Event): FailedAt {
    const { noted } = this.notes;
    const paths = noted.flatMap(({ scope, pathId }, index) => {
      const isFirst = noted.findIndex((other) => other.scope === scope && other.pathId === pathId) === index;
      return pathId !== null && isFirst ? [{ scope, pathId }] : [];
    });
    return { event, isDirect: this.#isDirect(event), paths };
  }

  /** Whether an event is a failure, or the end of a whole scope. */
  #isDirect(event: Event): boolean {
    switch (event.type) {
      case "failed":
        return event.retryAt === null && event.handle === undefined && event.incident === undefined && event.undoes === undefined;
      case "timedOut":
        return event.handle === undefined && event.undoes === undefined && this.#fails(event.scope, event.pathId);
      case "resumed":
        return this.#answered?.[0]?.kind === "incident" && this.#fails(event.scope, event.pathId);
      case "cancelled":
        return event.pathIds === undefined;
      default:
        return event.type === "expired";
    }
  }

  #fails(scope: string | undefined, pathId: string): boolean {
    const [first] = this.notes.noted;
    return first?.scope === (scope ?? "") && first.pathId === pathId;
  }

  #note(draft: Draft, failed: FailedAt): void {
    const { event } = failed;
    const direct = failed.isDirect && "scope" in event && event.scope !== undefined ? [event.scope] : [];
    for (const key of new Set([...this.notes.noted.map(({ scope }) => scope), ...direct]))
      if (key !== "" && !goesOn(draft, key)) this.children.set(key, failed);
    const inOpen = failed.paths.filter(({ scope }) => goesOn(draft, scope));
    if (inOpen.length > 0) this.finishing.push({ ...failed, paths: inOpen });
  }

  /** A restart opens again what has failed in the scopes that it opens. */
  #restarted(children: Readonly<Record<string, { readonly activePaths: readonly unknown[] }>>): void {
    this.end = null;
    this.inFinally = false;
    const open = new Set(["", ...Object.keys(children).filter((key) => children[key]!.activePaths.length > 0)]);
    this.finishing = this.finishing
      .map((failed) => ({ ...failed, paths: failed.paths.filter(({ scope }) => !open.has(scope)) }))
      .filter(({ paths }) => paths.length > 0);
  }
}
