import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { begin } from "../../core/transition/begin.ts";
import { closeDraft } from "../../core/transition/draft/close-draft.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { evolve } from "../../core/transition/evolve.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { type ActiveNode, ActivePaths } from "./active-paths.ts";
import type { NextChange } from "./wait-until.ts";

/** One event of an execution, and the execution after it. */
export interface Watched {
  readonly event: Event;
  readonly snapshot: Snapshot;
  /**
   * The nodes at which paths are open, by address: the id of a node, in children with the nodes around it
   * (`map[3]/approve`). Of several paths at one node the oldest. Reading one address costs the same however many paths are
   * open; going through all of them does not.
   */
  readonly activePaths: ReadonlyMap<string, ActiveNode>;
}

const pageSize = 500;

/** Every event after a version, those to come included, until the execution ends. */
export async function* watch(
  store: SnapshotStore,
  workflow: PreparedWorkflow,
  workflowId: string,
  afterVersion: number,
  next: () => NextChange,
): AsyncGenerator<Watched, void, void> {
  let draft: Draft | null = null;
  let seen = -1;
  for (;;) {
    const change = next();
    try {
      const rows = await store.events(workflowId, seen, pageSize);
      for (const { event, version } of rows) {
        seen = version;
        draft = after(draft, event, workflow, store);
        if (version <= afterVersion) continue;
        const snapshot = closeDraft(draft);
        yield { event, snapshot, activePaths: new ActivePaths(snapshot) };
      }
      if (draft?.ended) return;
      if (rows.length < pageSize) await change.come;
    } finally {
      change.cancel();
    }
  }
}

function after(draft: Draft | null, event: Event, workflow: PreparedWorkflow, store: SnapshotStore): Draft {
  if (!draft) {
    if (event.type === "started") return begin(workflow.compiled, event);
    throw new StepfoldError("STORE_REJECTED", { store: store.name, reason: "a history does not begin with its start" });
  }
  evolve(draft, event);
  return draft;
}
