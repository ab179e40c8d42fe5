import type { ErrorCode, ErrorDetails } from "./error-details.ts";
import { changedDefinitionText, issuesText, itemsText, notUndoneText } from "./error-text.ts";

/** One row of the catalogue. */
interface Entry<D> {
  /** HTTP status that fits, for servers that answer a request with the error. */
  readonly status: number;
  /** Whether the same call may succeed if simply made again. */
  readonly retryable: boolean;
  /** The message: what is wrong, and what to do. */
  say(details: D): string;
}

/** Every code of a `StepfoldError`, in one table: the message, `status` and `retryable` of the errors, and the docs, come from it. */
export const catalogue: { readonly [C in ErrorCode]: Entry<ErrorDetails<C>> } = {
  // definitions
  DEFINITION_INVALID: {
    status: 422,
    retryable: false,
    say: (d) => `Workflow "${d.workflow}" cannot run:${issuesText(d.issues.filter((issue) => issue.severity === "error"))}`,
  },
  DEFINITION_UNKNOWN: { status: 404, retryable: false, say: (d) => `No workflow "${d.workflow}" here. Known: ${itemsText(d.known)}` },
  DEFINITION_MISSING: {
    status: 409,
    retryable: true,
    say: (d) => `Execution "${d.workflowId}" is pinned to a definition (hash ${d.hash.slice(0, 12)}) that the store does not have`,
  },
  DEFINITION_CHANGED: {
    status: 409,
    retryable: false,
    say: changedDefinitionText,
  },
  NODE_TYPE_UNKNOWN: {
    status: 422,
    retryable: false,
    say: (d) =>
      `Node "${d.nodeId}" has the type "${d.type}", but no node definition of that type is registered. Known types: ${itemsText(d.known, 20)}`,
  },
  NODE_UNKNOWN: { status: 404, retryable: false, say: (d) => `Workflow "${d.workflow}" has no node "${d.nodeId}"` },
  START_AMBIGUOUS: {
    status: 422,
    retryable: false,
    say: (d) =>
      d.candidates.length
        ? `Workflow "${d.workflow}" has several first nodes (${itemsText(d.candidates)}): set "start" in the definition, or pass initialNodeId`
        : `Workflow "${d.workflow}" has no node without an incoming edge: set "start" in the definition, or pass initialNodeId`,
  },
  CODE_CHANGED: {
    status: 409,
    retryable: false,
    say: (d) => `The code of execution "${d.workflowId}" does not fit what it has done before: ${d.reason}; see docs/guides/changing.md`,
  },
  CODE_MISPLACED: {
    status: 422,
    retryable: false,
    say: (d) =>
      `The type of a node is the code of workflow "${d.workflow}", which runs only as that workflow: use a node of type "workflow" that names it`,
  },
  CODE_UNSUPPORTED: {
    status: 422,
    retryable: false,
    say: (d) =>
      `Workflow "${d.workflow}" has code, which a guest cannot run: its host repeats its own handler. Write it as code of the host, or as a graph`,
  },
  // values
  VALUE_NOT_JSON: { status: 400, retryable: false, say: (d) => `${d.what} cannot be stored as JSON: ${d.pointer || "/"} is ${d.reason}` },
  LIMIT_EXCEEDED: {
    status: 413,
    retryable: false,
    say: (d) =>
      `${d.what} exceeds the limit "${d.limit}": ${d.actual}, at most ${d.max}${d.pointer ? ` (at ${d.pointer})` : ""}. Keep large data elsewhere and store a reference, or raise the limit`,
  },
  SNAPSHOT_INVALID: { status: 400, retryable: false, say: (d) => `This is not a valid snapshot: ${d.pointer || "/"} ${d.reason}` },
  SNAPSHOT_TOO_NEW: {
    status: 409,
    retryable: false,
    say: (d) => `The snapshot has format ${d.schema}; this version of Stepfold reads up to ${d.supported}. Update Stepfold`,
  },
  OPTION_INVALID: { status: 400, retryable: false, say: (d) => `Option "${d.option}" ${d.reason}` },
  OPTION_UNKNOWN: {
    status: 400,
    retryable: false,
    say: (d) => `${d.of} has no option "${d.option}". ${d.meant ? `Did you mean "${d.meant}"?` : `There are: ${itemsText(d.known, 30)}`}`,
  },
  INPUT_INVALID: {
    status: 422,
    retryable: false,
    say: (d) => `The input of workflow "${d.workflow}" does not match its input schema:${issuesText(d.issues)}`,
  },
  DURATION_INVALID: {
    status: 422,
    retryable: false,
    say: (d) =>
      d.hasMonths
        ? `"${d.text}" is not a duration, because months and years differ in length: write days, or wait until a moment: date.add($now, "1 month")`
        : `"${d.text}" is not a duration: write milliseconds, or text such as "90s", "1h30m", "2 days", "PT5M"`,
  },
  // steps
  DATA_INVALID: {
    status: 422,
    retryable: false,
    say: (d) => `The data of node "${d.nodeId}" does not match the schema of its type:${issuesText(d.issues)}`,
  },
  OUTPUT_INVALID: {
    status: 422,
    retryable: false,
    say: (d) => `Node "${d.nodeId}" returned something its type does not allow:${issuesText(d.issues)}`,
  },
  VARIABLE_INVALID: { status: 422, retryable: false, say: (d) => `Node "${d.nodeId}" cannot set variable "${d.variable}": ${d.reason}` },
  HANDLE_UNKNOWN: {
    status: 422,
    retryable: false,
    say: (d) =>
      `Node "${d.nodeId}" left by the handle "${d.handle}", which has no edge and is not declared. Known handles: ${itemsText(d.known)}`,
  },
  HANDLE_MISSING: {
    status: 422,
    retryable: false,
    say: (d) => `Node "${d.nodeId}" named no handle and has no default edge. Return nextHandle, one of: ${itemsText(d.known)}`,
  },
  STEP_TIMEOUT: { status: 504, retryable: true, say: (d) => `Node "${d.nodeId}" did not end within ${d.timeoutMs} ms` },
  HEARTBEAT_TIMEOUT: { status: 504, retryable: true, say: (d) => `Node "${d.nodeId}" sent no heartbeat for ${d.timeoutMs} ms` },
  EXECUTION_TIMED_OUT: {
    status: 504,
    retryable: false,
    say: (d) =>
      `${d.workflow === undefined ? "Execution" : `Sub-workflow "${d.workflow}" of execution`} "${d.workflowId}" had to end by ${d.deadline}`,
  },
  STEPS_EXCEEDED: {
    status: 422,
    retryable: false,
    say: (d) =>
      `Execution "${d.workflowId}" has reached the limit of ${d.max} steps. Check whether a loop never ends; otherwise raise the limit "steps"`,
  },
  JOIN_SHORT: {
    status: 422,
    retryable: false,
    say: (d) =>
      `Node "${d.nodeId}" waits for ${d.wanted} branches, but only ${d.came} arrived, and no other branch can arrive. Add an edge "error" to the node for this case`,
  },
  LINK_INVALID: {
    status: 404,
    retryable: false,
    say: () => "This link is wrong, has expired or was used: ask for another one",
  },
  ACTION_DENIED: {
    status: 403,
    retryable: false,
    say: (d) =>
      d.action === "broadcast"
        ? `Node "${d.nodeId}" may not send its signal to all executions that wait for it: ${d.reason}`
        : `Node "${d.nodeId}" may not ${d.action} execution "${d.id}"${d.workflow === undefined ? "" : ` of workflow "${d.workflow}"`}: ${d.reason}`,
  },
  GLOBAL_DENIED: {
    status: 403,
    retryable: false,
    say: (d) => `Node "${d.nodeId}" reads globals.${d.name}, which this workflow may not read. It may read: ${itemsText(d.allowed)}`,
  },
  MAP_FAILED: {
    status: 422,
    retryable: false,
    say: (d) => `${d.failed} items of node "${d.nodeId}" failed, but at most ${d.tolerated} may fail (toleratedFailures): ${d.message}`,
  },
  STALLED: {
    status: 422,
    retryable: false,
    say: (d) => `No path can go on: the paths at ${itemsText(d.nodes)} are held, and their conditions ("when") can no longer become true`,
  },
  COMPENSATION_FAILED: {
    status: 422,
    retryable: false,
    say: (d) => `The compensation of node "${d.nodeId}" failed: ${d.message}`,
  },
  RETRY_POLICY_INVALID: {
    status: 422,
    retryable: false,
    say: (d) => `The retry policy of node "${d.nodeId}" has no usable "${d.field}": ${d.reason}`,
  },
  // expressions
  EXPRESSION_INVALID: {
    status: 422,
    retryable: false,
    say: (d) => `"${d.source.length > 80 ? `${d.source.slice(0, 79)}…` : d.source}", character ${d.position + 1}: ${d.reason}`,
  },
  EXPRESSION_FAILED: {
    status: 422,
    retryable: false,
    say: (d) =>
      `{{ ${d.source.length > 80 ? `${d.source.slice(0, 79)}…` : d.source} }}${d.pointer ? ` at ${d.pointer}` : ""} failed: ${d.reason}`,
  },
  EXPRESSION_BUDGET: {
    status: 422,
    retryable: false,
    say: (d) =>
      `{{ ${d.source.length > 80 ? `${d.source.slice(0, 79)}…` : d.source} }} needs more than its budget of ${d.max} ${d.limit}. Do this work in code, or raise the limit "expressionSteps"`,
  },
  // resuming
  RESUME_AMBIGUOUS: {
    status: 409,
    retryable: false,
    say: (d) =>
      `Execution "${d.workflowId}" waits at several places: name one of ${itemsText(d.waits.map((wait) => `${wait.nodeId} (${wait.id})`))}`,
  },
  RESUME_INVALID: {
    status: 422,
    retryable: false,
    say: (d) => `The payload does not match what node "${d.nodeId}" waits for:${issuesText(d.issues)}`,
  },
  RESUME_CONFLICT: {
    status: 409,
    retryable: false,
    say: (d) =>
      `Wait "${d.waitId}" of execution "${d.workflowId}" was answered before under the same idempotency key, with another payload`,
  },
  METADATA_CONFLICT: {
    status: 409,
    retryable: false,
    say: (d) => `The metadata of execution "${d.workflowId}" was set before under the same idempotency key, to something else`,
  },
  CODE_NEEDED: {
    status: 501,
    retryable: false,
    say: (d) =>
      `Type "${d.type}" of node "${d.nodeId}" gives no JSON Schema, so only its code can check an answer: answer in a process that has this type`,
  },
  WAIT_GONE: {
    status: 409,
    retryable: false,
    say: (d) =>
      `Execution "${d.workflowId}" has no open wait at ${d.target}: the wait was answered already, or was never opened. Open waits: ${itemsText(d.open)}`,
  },
  WAIT_EXPIRED: {
    status: 410,
    retryable: false,
    say: (d) => `Wait "${d.waitId}" of execution "${d.workflowId}" could be answered until ${d.timeoutAt} (epoch ms)`,
  },
  RESPONDER_DENIED: {
    status: 403,
    retryable: false,
    say: (d) => `Node "${d.nodeId}" of execution "${d.workflowId}" refuses the answer of ${d.who}: it ${d.reason}`,
  },
  MAP_CLOSED: {
    status: 409,
    retryable: false,
    say: (d) =>
      `Execution "${d.workflowId}" has no map at "${d.node}" that accepts items: the map was closed, is complete, or has not begun`,
  },
  EXECUTION_ENDED: {
    status: 409,
    retryable: false,
    say: (d) => `Execution "${d.workflowId}" is ${d.status}; nothing can change it any more`,
  },
  EXECUTION_FAILED: {
    status: 422,
    retryable: false,
    say: (d) =>
      `Execution "${d.workflowId}" failed${d.nodeId ? ` at node "${d.nodeId}"` : ""}${d.code ? ` with ${d.code}` : ""}: ${d.message}${notUndoneText(d)}`,
  },
  EXECUTION_CANCELLED: {
    status: 409,
    retryable: false,
    say: (d) => `Execution "${d.workflowId}" was cancelled${d.reason === undefined ? "" : `: ${d.reason}`}${notUndoneText(d)}`,
  },
  RETRY_NOT_PENDING: {
    status: 409,
    retryable: false,
    say: (d) => `Execution "${d.workflowId}" has no retry pending${d.node === undefined ? "" : ` at "${d.node}"`}`,
  },
  // schedules
  SCHEDULE_INVALID: { status: 400, retryable: false, say: (d) => `Schedule "${d.schedule}" is not valid:${issuesText(d.issues)}` },
  SCHEDULE_NOT_FOUND: { status: 404, retryable: false, say: (d) => `No schedule "${d.schedule}" in this store` },
  SCHEDULE_EXISTS: { status: 409, retryable: false, say: (d) => `Another schedule is named "${d.schedule}": edit that one` },
  SCHEDULE_DENIED: {
    status: 403,
    retryable: false,
    say: (d) => `No ${d.action} for execution "${d.workflowId}": it is a schedule, which only runtime.schedules changes. Use ${d.use}`,
  },
  // stores
  WORKFLOW_EXISTS: {
    status: 409,
    retryable: false,
    say: (d) =>
      d.deletedAt === undefined
        ? `There is an execution "${d.workflowId}" already`
        : `There was an execution "${d.workflowId}"; its id stays taken for a while after it was deleted`,
  },
  WORKFLOW_NOT_FOUND: { status: 404, retryable: false, say: (d) => `No execution "${d.workflowId}" in this store` },
  START_CONFLICT: {
    status: 409,
    retryable: false,
    say: (d) =>
      `Execution "${d.workflowId}" was started before with another ${d.differs}. Choose another id, or use runtime.get to get the existing execution`,
  },
  VERSION_CONFLICT: {
    status: 409,
    retryable: true,
    say: (d) =>
      d.actual === null
        ? `Execution "${d.workflowId}" is no longer the one that was loaded: load it again`
        : `Execution "${d.workflowId}" is at version ${d.actual}, not ${d.expected}: load it and apply again`,
  },
  LABEL_CONFLICT: {
    status: 409,
    retryable: false,
    say: (d) =>
      `Of workflow "${d.workflow}", ${publishedText(d.actual)}, not ${d.expected === null ? "none" : d.expected.slice(0, 12)}: read which definition is published, and try again`,
  },
  FENCE_LOST: {
    status: 409,
    retryable: false,
    say: (d) => `The claim on execution "${d.workflowId}" has passed to another holder: stop working on it`,
  },
  FORK_REFUSED: {
    status: 409,
    retryable: false,
    say: (d) =>
      `No execution can continue from ${d.version === undefined ? "" : `version ${d.version} of `}execution "${d.workflowId}": ${d.reason}`,
  },
  RESTART_COMPENSATED: {
    status: 409,
    retryable: false,
    say: (d) =>
      `Steps of execution "${d.workflowId}" were undone: ${itemsText(d.nodes)}. Say whether they are performed again (compensated: "again") or count as done (compensated: "keep")`,
  },
  EXECUTION_OPEN: {
    status: 409,
    retryable: false,
    say: (d) => `Execution "${d.workflowId}" is ${d.status}; only ended ones can be deleted. Cancel it first`,
  },
  EXECUTION_PARKED: {
    status: 409,
    retryable: false,
    say: (d) => `Execution "${d.workflowId}" is parked (${d.code}): ${d.message}`,
  },
  WORKFLOW_LEFT: {
    status: 409,
    retryable: false,
    say: (d) =>
      `Execution "${d.workflowId}" and all others with this definition of workflow "${d.workflow}" are left to other processes, because this one cannot run them (${d.code}): ${d.reason}`,
  },
  STORE_UNAVAILABLE: { status: 503, retryable: true, say: (d) => `Store "${d.store}" did not answer: ${d.reason}` },
  OUTCOME_UNKNOWN: {
    status: 503,
    retryable: true,
    say: (d) =>
      `Whether the ${d.action} of execution "${d.workflowId}" was applied is not known: ${d.reason}. Make the same call again, with the same id or idempotencyKey: it is applied once`,
  },
  STORE_REJECTED: { status: 500, retryable: false, say: (d) => `Store "${d.store}" refused: ${d.reason}` },
  DRIVER_MISSING: {
    status: 500,
    retryable: false,
    say: (d) =>
      `${d.queue === undefined ? `Store "${d.store}"` : `Queue "${d.queue}"`} needs the package "${d.driver}", which is not installed here: npm install ${d.driver}`,
  },
  QUEUE_UNAVAILABLE: { status: 503, retryable: true, say: (d) => `Queue "${d.queue}" did not answer: ${d.reason}` },
  QUEUE_REJECTED: { status: 500, retryable: false, say: (d) => `Queue "${d.queue}" refused: ${d.reason}` },
  FEED_UNAVAILABLE: { status: 503, retryable: true, say: (d) => `Feed "${d.feed}" did not answer: ${d.reason}` },
  STEP_LOST: {
    status: 503,
    retryable: true,
    say: (d) =>
      `${d.host} gave up the step "${d.step}" of execution "${d.workflowId}" without a result: ${d.reason}. Let ${d.host} repeat the run: the steps whose results it has are not performed again`,
  },
  RUNTIME_CLOSED: { status: 503, retryable: false, say: (d) => `The runtime is closed: it cannot ${d.action}` },
  NOT_IN_TIME: {
    status: 504,
    retryable: true,
    say: (d) => `Execution "${d.workflowId}" did not ${d.awaited} within ${d.timeoutMs} ms. It goes on: wait again, or longer`,
  },
};

function publishedText(hash: string | null): string {
  return hash === null ? "no definition is published" : `the definition ${hash.slice(0, 12)} is published`;
}
