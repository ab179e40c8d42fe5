import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { type RunHistory, replay } from "../../core/restart/run-history.ts";
import type { ContinuedEvent, Event, StartedEvent } from "../../core/snapshot/event.ts";
import type { Snapshot, SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { closeDraft } from "../../core/transition/draft/close-draft.ts";
import { readHistory } from "../../ports/read-history.ts";
import { requireNoSchedule } from "../context/require-no-schedule.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { requireHead } from "../context/store/require-snapshot.ts";

/**
 * Loads the history of the present run of an execution, and the definitions that it followed.
 *
 * @param action what another execution, or this one, goes on by
 * @throws StepfoldError `FORK_REFUSED` if the events do not follow from each other, `WORKFLOW_NOT_FOUND`, `SCHEDULE_DENIED`, `DEFINITION_MISSING`, `DEFINITION_CHANGED`
 */
export async function loadHistory(
  { store, registry }: RuntimeContext,
  workflowId: string,
  action: "fork" | "restart",
): Promise<RunHistory> {
  const head = await requireHead(store, workflowId);
  requireNoSchedule(head, action);
  const since = head.run?.since ?? 0;
  // the last page may hold events that were committed after the head was read
  const rows = (await readHistory(store, workflowId, head.version, since - 1)).filter(({ version }) => version <= head.version);
  const [first, ...others] = rows.map(({ event }) => event);
  const isWhole =
    first?.type === "started" ? first.incarnation === head.incarnation : first?.type === "continued" && first.version === since;
  // the execution was deleted meanwhile, or another execution has its id now
  if (!isWhole) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
  const events = [first as StartedEvent | ContinuedEvent, ...others] as const;
  const workflows = new Map();
  for (const hash of definitionsOf(events)) workflows.set(hash, (await registry.pinnedForCommands(workflowId, hash)).compiled);
  const history: RunHistory = { head, events, workflowOf: (hash) => workflows.get(hash)! };
  if (!isSound(history))
    throw refused(head, null, "its events do not follow from each other: they changed while they were read, or are damaged; try again");
  return history;
}

/** Whether each event follows from those before it. A database that falls back to an older state while pages are read gives parts of two pasts. */
function isSound(history: RunHistory): boolean {
  let version = -1;
  replay(history, {
    after(draft, event) {
      version = draft.version;
      return version === event.version;
    },
  });
  return version === history.events.at(-1)!.version;
}

function definitionsOf(events: readonly Event[]): ReadonlySet<string> {
  return new Set(events.flatMap((event) => ("definition" in event ? [event.definition.hash] : [])));
}

/** Returns the execution as it was at a version of its present run. */
export function stateAt(history: RunHistory, version: number): Snapshot {
  let found: Snapshot | null = null;
  replay(history, {
    after(draft) {
      if (draft.version < version) return true;
      found = closeDraft(draft);
      return false;
    },
  });
  return found!;
}

/** Makes a `FORK_REFUSED` error. @param version null if no version was named */
export function refused({ workflowId }: Pick<SnapshotHead, "workflowId">, version: number | null, reason: string): StepfoldError {
  return new StepfoldError("FORK_REFUSED", { workflowId, ...(version !== null && { version }), reason });
}
