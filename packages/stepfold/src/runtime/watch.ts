import { begin } from "../core/begin.ts";
import { closeDraft, type Draft } from "../core/draft.ts";
import type { Event } from "../core/event.ts";
import { evolve } from "../core/evolve.ts";
import type { Json } from "../core/json.ts";
import type { ActivePath, Snapshot } from "../core/snapshot.ts";
import { StepfoldError } from "../core/stepfold-error.ts";
import type { PreparedWorkflow } from "../engine/prepared-workflow.ts";
import type { SnapshotStore } from "../ports/snapshot-store.ts";
import type { News } from "./changes.ts";

/** A node where the execution stands. */
export interface ActiveNode {
  readonly status: ActivePath["status"];
  /** What the step told the world when it suspended. */
  readonly suspendPayload?: Json | undefined;
  readonly stepPath: readonly string[];
}

/** One event of an execution, and the execution after it. */
export interface Watched {
  readonly event: Event;
  readonly snapshot: Snapshot;
  /** Where it stands, by node id; of several paths at one node the oldest. */
  readonly activePaths: ReadonlyMap<string, ActiveNode>;
}

const pageSize = 500;

/** Every event after a version, those to come included, until the execution ends. */
export async function* watch(
  store: SnapshotStore,
  workflow: PreparedWorkflow,
  workflowId: string,
  afterVersion: number,
  nextNews: () => News,
): AsyncGenerator<Watched, void, void> {
  let draft: Draft | null = null;
  let seen = -1;
  for (;;) {
    const news = nextNews();
    try {
      const rows = await store.events(workflowId, seen, pageSize);
      for (const { event, version } of rows) {
        seen = version;
        draft = after(draft, event, workflow, store);
        if (version <= afterVersion) continue;
        const snapshot = closeDraft(draft);
        yield { event, snapshot, activePaths: byNode(snapshot.activePaths) };
      }
      if (draft?.ended) return;
      if (rows.length < pageSize) await news.come;
    } finally {
      news.cancel();
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

function byNode(paths: readonly ActivePath[]): ReadonlyMap<string, ActiveNode> {
  const nodes = new Map<string, ActiveNode>();
  for (const { nodeId, status, waits, stepPath } of paths) {
    if (!nodes.has(nodeId)) nodes.set(nodeId, { status, suspendPayload: waits?.[0]?.payload, stepPath });
  }
  return nodes;
}
