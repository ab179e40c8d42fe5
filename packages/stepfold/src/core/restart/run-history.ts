import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { ContinuedEvent, Event, StartedEvent } from "../snapshot/event.ts";
import type { SnapshotHead } from "../snapshot/snapshot.ts";
import { draftAfter, workflowAt } from "../transition/apply.ts";
import { begin } from "../transition/begin.ts";
import { draftOfRun } from "../transition/begin-run.ts";
import type { Draft } from "../transition/draft/draft.ts";

/** The history of the present run of an execution. */
export interface RunHistory {
  /** The head of the execution, at any time in this run. */
  readonly head: SnapshotHead;
  /** Every event of the run. The first one begins it. */
  readonly events: readonly [StartedEvent | ContinuedEvent, ...Event[]];
  /** Returns the definition with a hash. The events name it: the first one, and each restart. */
  readonly workflowOf: (hash: string) => CompiledWorkflow;
}

/** Returns the version of the first event. */
export function firstVersion({ events: [first] }: RunHistory): number {
  return first.version;
}

/** Returns the execution after its first event. */
function firstDraft({ head, events: [first], workflowOf }: RunHistory, onFailure: Draft["onFailure"]): Draft {
  const workflow = workflowOf(first.definition.hash);
  return first.type === "started" ? begin(workflow, first, onFailure) : draftOfRun(workflow, head, first, onFailure);
}

/** What a replay calls. */
export interface ReplayCalls {
  /** Called before each event; null before the first one. */
  readonly before?: (draft: Draft | null, event: Event) => void;
  /** Called while an event is applied, before something fails by it. */
  readonly onFailure?: Draft["onFailure"];
  /** Called after each event. Returning false ends the replay. */
  readonly after: (draft: Draft, event: Event) => unknown;
}

/** Applies the events of a run one after the other. */
export function replay(history: RunHistory, { before, onFailure = null, after }: ReplayCalls): void {
  const [first, ...others] = history.events;
  before?.(null, first);
  let draft = firstDraft(history, onFailure);
  if (after(draft, first) === false) return;
  for (const event of others) {
    draft.onFailure = onFailure;
    before?.(draft, event);
    draft = draftAfter(draft, event, workflowAt(draft, event, history.workflowOf)) ?? draft;
    if (after(draft, event) === false) return;
  }
}
