import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot, SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { draftAfter } from "../../core/transition/apply.ts";
import { begin } from "../../core/transition/begin.ts";
import { closeDraft } from "../../core/transition/draft/close-draft.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { openDraft } from "../../core/transition/draft/open-draft.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import type { AppendedRow, SnapshotStore } from "../../ports/snapshot-store.ts";
import type { Registry } from "../context/registry.ts";
import { requireHead, requireSnapshot } from "../context/store/require-snapshot.ts";
import { type ActiveNode, ActivePaths } from "./active-paths.ts";
import type { ChangesOf } from "./changes-of.ts";

/** One event of an execution, and the execution after it. */
export interface Watched {
  readonly event: Event;
  readonly snapshot: Snapshot;
  /**
   * The nodes at which paths are open, by their addresses. The address of a node in a child has the nodes around it before it
   * (`map[3]/approve`). If several paths are at one node, the oldest counts. To read one address costs the same however many
   * items of maps are open; to go through all addresses does not.
   */
  readonly activePaths: ReadonlyMap<string, ActiveNode>;
}

/** The most events of one read. */
const pageSize = 500;

/** What is watched, and until when. */
export interface WatchRequest {
  readonly store: SnapshotStore;
  readonly registry: Registry;
  readonly workflowId: string;
  /** The last version that was seen before; -1: none. */
  readonly after: number;
  /** Begins to look for changes of the execution. The changes reject when the watch is ended from outside. */
  readonly openChanges: () => ChangesOf;
  /** Called when the watch is over. */
  readonly over: () => void;
  /** Aborted when the loop over the events was left. */
  readonly left: AbortSignal;
}

/**
 * Gives every event after a version, including events to come, until the execution ends.
 *
 * @throws StepfoldError `WORKFLOW_NOT_FOUND` if the execution is deleted meanwhile, even if another execution has its id then
 */
export async function* watch({
  store,
  registry,
  workflowId,
  after,
  openChanges,
  over,
  left,
}: WatchRequest): AsyncGenerator<Watched, void, void> {
  const changes = openChanges();
  try {
    const head = await requireHead(store, workflowId);
    const { incarnation } = head;
    let workflow = await registry.pinnedForCommands(workflowId, head.definition.hash);
    const begun = await stateBefore({ store, registry, workflowId, after }, head);
    let { draft, seen }: Begun = begun;
    while (!left.aborted) {
      changes.throwIfEnded();
      // the last event is read again: if it is missing, or another commit wrote it, the execution was deleted
      const rows: readonly AppendedRow[] = await store.events(workflowId, seen ? seen.version - 1 : begun.from, pageSize);
      const isSame = seen !== null && rows[0]?.commitId === seen.commitId;
      const fresh: readonly AppendedRow[] = isSame ? rows.slice(1) : rows;
      if (rows[0] === undefined || (seen && !isSame && !(await isTrimmed(store, workflowId, incarnation, seen.version)))) {
        throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
      }
      for (const row of fresh) {
        seen = row;
        const { event } = row;
        // each run may follow a definition of its own
        if ("definition" in event && event.definition.hash !== workflow.compiled.hash)
          workflow = await registry.pinnedForCommands(workflowId, event.definition.hash);
        draft = stateAfter(draft, event, workflow, store);
        if (row.version <= after) continue;
        const snapshot = closeDraft(draft);
        yield { event: row.event, snapshot, activePaths: new ActivePaths(snapshot) };
      }
      if (draft?.ended) return;
      changes.known = seen && { version: seen.version, incarnation };
      if (rows.length < pageSize) await changes.next();
    }
  } catch (error) {
    if (!left.aborted) throw error;
  } finally {
    changes.close();
    over();
  }
}

/** Where a watch begins. */
interface Begun {
  /** The execution at that point; null: before its first event. */
  readonly draft: Draft | null;
  /** The last event before that point; null if it need not be checked. */
  readonly seen: AppendedRow | null;
  /** The version after which events are read. */
  readonly from: number;
}

/**
 * Returns the execution at a version at or before `after`, without reading all that lies before: the present state if the caller knows it
 * already, else the beginning of the present run. Only for an older version the whole history is read, because the state of each version
 * follows from the events before it.
 */
async function stateBefore(
  { store, registry, workflowId, after }: Pick<WatchRequest, "store" | "registry" | "workflowId" | "after">,
  { version, run }: SnapshotHead,
): Promise<Begun> {
  if (after >= version) {
    const snapshot = await requireSnapshot(store, workflowId);
    const [seen] = snapshot.version <= after ? await store.events(workflowId, snapshot.version - 1, 1) : [];
    // otherwise the execution has gone on meanwhile
    if (seen?.version === snapshot.version) {
      const { compiled } = await registry.pinnedForCommands(workflowId, snapshot.definition.hash);
      return { draft: openDraft(compiled, snapshot), seen, from: seen.version };
    }
  }
  const [first] = run && after >= run.since ? await store.events(workflowId, -1, 1) : [];
  if (first?.event.type !== "started") return { draft: null, seen: null, from: -1 };
  const { compiled } = await registry.pinnedForCommands(workflowId, first.event.definition.hash);
  return { draft: begin(compiled, first.event), seen: null, from: run!.since - 1 };
}

/** Whether a version that was there before is missing because the events of earlier runs were trimmed, and not the whole execution. */
async function isTrimmed(store: SnapshotStore, workflowId: string, incarnation: string | undefined, version: number): Promise<boolean> {
  const head = await store.loadHead(workflowId);
  return head !== null && head.incarnation === incarnation && version < (head.run?.since ?? 0);
}

function stateAfter(draft: Draft | null, event: Event, workflow: PreparedWorkflow, store: SnapshotStore): Draft {
  if (!draft) {
    if (event.type === "started") return begin(workflow.compiled, event);
    const reason = 'the history of the execution does not begin with the event "started"';
    throw new StepfoldError("STORE_REJECTED", { store: store.name, reason });
  }
  return draftAfter(draft, event, workflow.compiled) ?? draft;
}
