import type { CompiledWorkflow } from "./compiled.ts";
import type { Draft, DraftPath } from "./draft.ts";
import type { StartedEvent } from "./event.ts";

/** The draft of an execution that has just begun. */
export function begin(workflow: CompiledWorkflow, event: StartedEvent): Draft {
  const { workflowId, definition, incarnation, nodeId, input, metadata, payload, at, sizeBytes = 0 } = event;
  const first: DraftPath = {
    id: "0",
    nodeId,
    status: "ready",
    turn: 1,
    visit: 1,
    attempts: 0,
    since: 0,
    forks: 0,
    via: undefined,
    waits: undefined,
    nextRetryAt: undefined,
    resumed: payload === undefined ? undefined : Object.freeze({ by: "payload", payload }),
    stepPath: [],
  };
  return {
    workflow,
    workflowId,
    definition,
    metadata,
    input,
    createdAt: at,
    incarnation,
    version: 0,
    paths: [first],
    ended: null,
    failedAt: null,
    output: undefined,
    error: undefined,
    lastStartedAt: undefined,
    totalExecutionTime: undefined,
    steps: 0,
    sizeBytes,
    context: {},
    borrowed: {},
  };
}
