import type { ListedExecution } from "stepfold/client";

/** The time of the rows: noon of a day in November. */
export const noon = Date.UTC(2026, 10, 22, 12, 0, 0);

/** A row of a list: an execution that is active, with what is given instead. */
export function rowOf(given: Partial<ListedExecution> & { readonly workflowId: string }): ListedExecution {
  return {
    incarnation: "i1",
    definition: { id: "order", hash: "9f2c0d" },
    status: "active",
    currentNodeId: null,
    version: 1,
    metadata: {},
    createdAt: noon,
    updatedAt: noon,
    wakeAt: null,
    lease: null,
    waiting: null,
    error: null,
    steps: 3,
    sizeBytes: 100,
    ...given,
  };
}
