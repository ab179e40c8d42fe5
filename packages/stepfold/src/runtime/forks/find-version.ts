import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { firstVersion, type RunHistory, replay } from "../../core/restart/run-history.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { isFirstOfStep } from "../../core/transition/code/code-path.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { refused, stateAt } from "./load-history.ts";

/** A version of an execution from which another one can go on. */
export interface ForkPoint {
  readonly snapshot: Snapshot;
  /** The time at which the execution left this version; null if it still has it. */
  readonly leftAt: EpochMs | null;
}

/**
 * Returns the execution as it was at a version.
 *
 * @throws StepfoldError `FORK_REFUSED` if there is no such version, or nothing could go on from it
 */
export function snapshotAt(history: RunHistory, version: number): ForkPoint {
  const { head, events } = history;
  const first = firstVersion(history);
  const last = first + events.length - 1;
  if (!Number.isSafeInteger(version) || version < first || version > last) {
    const run = first === 0 ? "the execution" : `run ${head.run!.number}, the present one,`;
    throw refused(head, version, `${run} has the versions ${first} to ${last}`);
  }
  const snapshot = stateAt(history, version);
  if (snapshot.ending || snapshot.closing || snapshot.activePaths.length === 0)
    throw refused(head, version, "it was ending then; choose an earlier version");
  return { snapshot, leftAt: events[version - first + 1]?.at ?? null };
}

/**
 * Returns the last version at which a path had come to a node, and the node was still to be performed. Only paths of the execution itself
 * count, not those of sub-workflows and items of maps.
 *
 * @throws StepfoldError `FORK_REFUSED` if no path ever came there before the end was decided, `NODE_UNKNOWN`
 */
export function versionAtNode(history: RunHistory, node: string): number {
  const { head, workflowOf } = history;
  const { nodes, definition } = workflowOf(head.definition.hash);
  if (!nodes.has(node)) throw new StepfoldError("NODE_UNKNOWN", { nodeId: node, workflow: definition.id });
  let found: number | null = null;
  replay(history, {
    before(draft, event) {
      if (draft?.workflow.code && isFirstOf(node, draft, event)) found = draft.version;
    },
    after(draft, { version }) {
      const hasCome = draft.paths.some(
        ({ nodeId, since, status }) => nodeId === node && status === "ready" && (since === version || version === firstVersion(history)),
      );
      if (hasCome && !draft.ending && !draft.closing) found = version;
    },
  });
  if (found === null) throw refused(head, null, `it has never come to the node "${node}"`);
  return found;
}

/** Whether an event is the first one of a step that code has asked for by a name. No event says that the code has asked for it. */
function isFirstOf(node: string, draft: Draft, event: Event): boolean {
  if (!("pathId" in event && "turn" in event && event.nodeId === node) || event.scope !== undefined) return false;
  return isFirstOfStep(draft, event) && !draft.paths.some(({ id }) => id === event.pathId);
}
