import { issuesText, itemsText, notUndoneText } from "./error-text.ts";
import type { Issue } from "./issue.ts";
import type { SchemaIssue } from "./schema-issue.ts";

/** One row of the catalogue. */
interface Entry<D> {
  /** HTTP status that fits. */
  readonly status: number;
  /** Whether the same call may succeed if simply made again. */
  readonly retryable: boolean;
  /** The message: what is wrong, and what to do. */
  say(details: D): string;
}

/** The fields that come with each code. */
interface DetailsByCode {
  // definitions
  DEFINITION_INVALID: { workflow: string; issues: readonly Issue[] };
  DEFINITION_UNKNOWN: { workflow: string; known: readonly string[] };
  DEFINITION_MISSING: { workflowId: string; hash: string };
  DEFINITION_CHANGED: { workflowId: string; expected: string; actual: string; missing?: readonly string[]; isStored?: true };
  NODE_TYPE_UNKNOWN: { nodeId: string; type: string; known: readonly string[] };
  NODE_UNKNOWN: { nodeId: string; workflow: string };
  START_AMBIGUOUS: { workflow: string; candidates: readonly string[] };
  // values
  VALUE_NOT_JSON: { what: string; pointer: string; reason: string };
  LIMIT_EXCEEDED: { what: string; limit: string; max: number; actual: number; pointer?: string };
  SNAPSHOT_INVALID: { pointer: string; reason: string };
  SNAPSHOT_TOO_NEW: { schema: number; supported: number };
  OPTION_INVALID: { option: string; reason: string };
  OPTION_UNKNOWN: { of: string; option: string; known: readonly string[]; meant?: string };
  INPUT_INVALID: { workflow: string; issues: readonly SchemaIssue[] };
  DURATION_INVALID: { text: string };
  // steps
  DATA_INVALID: { nodeId: string; issues: readonly SchemaIssue[] };
  OUTPUT_INVALID: { nodeId: string; issues: readonly SchemaIssue[] };
  HANDLE_UNKNOWN: { nodeId: string; handle: string; known: readonly string[] };
  HANDLE_MISSING: { nodeId: string; known: readonly string[] };
  VARIABLE_INVALID: { nodeId: string; variable: string; reason: string };
  STEP_TIMEOUT: { nodeId: string; timeoutMs: number };
  HEARTBEAT_TIMEOUT: { nodeId: string; timeoutMs: number };
  STEPS_EXCEEDED: { workflowId: string; max: number };
  JOIN_SHORT: { nodeId: string; wanted: number; came: number };
  ACTION_DENIED: { nodeId: string; action: string; workflow: string; id: string; reason: string };
  GLOBAL_DENIED: { nodeId: string; name: string; allowed: readonly string[] };
  MAP_FAILED: { nodeId: string; failed: number; tolerated: number; message: string };
  STALLED: { nodes: readonly string[] };
  COMPENSATION_FAILED: { nodeId: string; message: string };
  RETRY_POLICY_INVALID: { nodeId: string; field: string; reason: string };
  // expressions
  EXPRESSION_INVALID: { source: string; position: number; reason: string };
  EXPRESSION_FAILED: { source: string; position: number; reason: string; pointer?: string };
  EXPRESSION_BUDGET: { source: string; limit: string; max: number };
  // resuming
  RESUME_AMBIGUOUS: { workflowId: string; waits: readonly { readonly id: string; readonly nodeId: string }[] };
  RESUME_INVALID: { nodeId: string; issues: readonly SchemaIssue[] };
  RESUME_CONFLICT: { workflowId: string; waitId: string };
  CODE_NEEDED: { workflowId: string; nodeId: string; type: string };
  WAIT_GONE: { workflowId: string; target: string; open: readonly string[] };
  WAIT_EXPIRED: { workflowId: string; waitId: string; timeoutAt: number };
  RESPONDER_DENIED: { workflowId: string; waitId: string; nodeId: string; who: string; reason: string };
  MAP_CLOSED: { workflowId: string; node: string };
  EXECUTION_ENDED: { workflowId: string; status: string };
  EXECUTION_FAILED: {
    workflowId: string;
    nodeId?: string;
    code?: string;
    message: string;
    /** Of a map that failed: the first of its items that failed, and the code it failed with. */
    cause?: { readonly item: number; readonly nodeId?: string; readonly code?: string; readonly message: string };
    notUndone?: readonly string[];
  };
  EXECUTION_CANCELLED: { workflowId: string; reason?: string; notUndone?: readonly string[] };
  RETRY_NOT_PENDING: { workflowId: string; node?: string };
  // schedules
  SCHEDULE_INVALID: { schedule: string; issues: readonly SchemaIssue[] };
  SCHEDULE_NOT_FOUND: { schedule: string };
  SCHEDULE_EXISTS: { schedule: string };
  // stores
  WORKFLOW_EXISTS: { workflowId: string; deletedAt?: number };
  WORKFLOW_NOT_FOUND: { workflowId: string };
  START_CONFLICT: { workflowId: string; differs: "definition" | "input" | "parent" | "tenant" | "origin" | "schedule" };
  VERSION_CONFLICT: { workflowId: string; expected: number; actual: number | null };
  FENCE_LOST: { workflowId: string };
  EXECUTION_PARKED: { workflowId: string; code: string; message: string };
  FORK_REFUSED: { workflowId: string; version?: number; reason: string };
  RESTART_COMPENSATED: { workflowId: string; nodes: readonly string[] };
  EXECUTION_OPEN: { workflowId: string; status: string };
  STORE_UNAVAILABLE: { store: string; reason: string };
  STORE_REJECTED: { store: string; reason: string };
  OUTCOME_UNKNOWN: { workflowId: string; action: string; reason: string };
  DRIVER_MISSING: { store?: string; queue?: string; driver: string };
  QUEUE_UNAVAILABLE: { queue: string; reason: string };
  QUEUE_REJECTED: { queue: string; reason: string };
  FEED_UNAVAILABLE: { feed: string; reason: string };
  RUNTIME_CLOSED: { action: string };
  NOT_IN_TIME: { workflowId: string; awaited: string; timeoutMs: number };
}

/** Stable identifier of a failure. Adding one is a minor change, renaming one a major. */
export type ErrorCode = keyof DetailsByCode;

/** The fields that come with an error of code C. */
export type ErrorDetails<C extends ErrorCode> = DetailsByCode[C];

/** Everything this library throws, in one table: the HTTP layer, the docs and `retryable` all read it. */
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
    say: (d) =>
      d.isStored
        ? `Execution "${d.workflowId}" is pinned to a definition (hash ${d.actual.slice(0, 12)}), and the store has another one under that hash: somebody has changed it`
        : d.missing
          ? `Execution "${d.workflowId}" stands at nodes that this definition lacks: ${itemsText(d.missing)}`
          : `Execution "${d.workflowId}" was started with another version of its definition (${d.actual.slice(0, 12)}, not ${d.expected.slice(0, 12)}). Use that one, or pass definition: "current" to go on with this one`,
  },
  NODE_TYPE_UNKNOWN: {
    status: 422,
    retryable: false,
    say: (d) => `Node "${d.nodeId}" has the type "${d.type}", which nothing defines. Known types: ${itemsText(d.known, 20)}`,
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
  // values
  VALUE_NOT_JSON: { status: 400, retryable: false, say: (d) => `${d.what} cannot be kept as JSON: ${d.pointer || "/"} is ${d.reason}` },
  LIMIT_EXCEEDED: {
    status: 413,
    retryable: false,
    say: (d) =>
      `${d.what} passes the limit "${d.limit}": ${d.actual}, at most ${d.max}${d.pointer ? ` (at ${d.pointer})` : ""}. Keep large data elsewhere and store a reference, or raise the limit`,
  },
  SNAPSHOT_INVALID: { status: 400, retryable: false, say: (d) => `This is no snapshot: ${d.pointer || "/"} ${d.reason}` },
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
    say: (d) => `The input of workflow "${d.workflow}" is not what it asks for:${issuesText(d.issues)}`,
  },
  DURATION_INVALID: {
    status: 422,
    retryable: false,
    say: (d) => `"${d.text}" is no duration: write milliseconds, or text such as "90s", "1h30m", "2 days", "PT5M"`,
  },
  // steps
  DATA_INVALID: {
    status: 422,
    retryable: false,
    say: (d) => `The data of node "${d.nodeId}" is not what its type asks for:${issuesText(d.issues)}`,
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
  HEARTBEAT_TIMEOUT: { status: 504, retryable: true, say: (d) => `Node "${d.nodeId}" gave no heartbeat for ${d.timeoutMs} ms` },
  STEPS_EXCEEDED: {
    status: 422,
    retryable: false,
    say: (d) =>
      `Execution "${d.workflowId}" made ${d.max} steps, the most it may make. Is there a loop without an end? Otherwise raise the limit "steps"`,
  },
  JOIN_SHORT: {
    status: 422,
    retryable: false,
    say: (d) =>
      `Node "${d.nodeId}" waits for ${d.wanted} branches, but only ${d.came} came, and no other can. Give it an edge "error" for that case`,
  },
  ACTION_DENIED: {
    status: 403,
    retryable: false,
    say: (d) => `Node "${d.nodeId}" may not ${d.action} execution "${d.id}" of workflow "${d.workflow}": ${d.reason}`,
  },
  GLOBAL_DENIED: {
    status: 403,
    retryable: false,
    say: (d) => `Node "${d.nodeId}" reads globals.${d.name}, which this workflow may not read. It may read: ${itemsText(d.allowed)}`,
  },
  MAP_FAILED: {
    status: 422,
    retryable: false,
    say: (d) => `${d.failed} items of node "${d.nodeId}" failed, ${d.tolerated} may (toleratedFailures); ${d.message}`,
  },
  STALLED: {
    status: 422,
    retryable: false,
    say: (d) => `Nothing can move any more: the paths at ${itemsText(d.nodes)} are held by a "when" that no longer comes true`,
  },
  COMPENSATION_FAILED: {
    status: 422,
    retryable: false,
    say: (d) => `What node "${d.nodeId}" did could not be undone: ${d.message}`,
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
    say: (d) => `{{ ${d.source.length > 80 ? `${d.source.slice(0, 79)}…` : d.source} }} needs more than its budget of ${d.max} ${d.limit}`,
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
    say: (d) => `The payload is not what node "${d.nodeId}" waits for:${issuesText(d.issues)}`,
  },
  RESUME_CONFLICT: {
    status: 409,
    retryable: false,
    say: (d) =>
      `Wait "${d.waitId}" of execution "${d.workflowId}" was answered before under the same idempotency key, with another payload`,
  },
  CODE_NEEDED: {
    status: 501,
    retryable: false,
    say: (d) => `Type "${d.type}" of node "${d.nodeId}" gives no JSON Schema: answer where its code is`,
  },
  WAIT_GONE: {
    status: 409,
    retryable: false,
    say: (d) =>
      `Execution "${d.workflowId}" does not wait at ${d.target}: it was answered, or was never open. Open waits: ${itemsText(d.open)}`,
  },
  WAIT_EXPIRED: {
    status: 410,
    retryable: false,
    say: (d) => `Wait "${d.waitId}" of execution "${d.workflowId}" could be answered until ${d.timeoutAt} (epoch ms)`,
  },
  RESPONDER_DENIED: {
    status: 403,
    retryable: false,
    say: (d) => `"${d.nodeId}" of execution "${d.workflowId}" cannot be answered by ${d.who}: it ${d.reason}`,
  },
  MAP_CLOSED: {
    status: 409,
    retryable: false,
    say: (d) => `Execution "${d.workflowId}" has no map at "${d.node}" that takes items: it was closed, has gone on, or is not there yet`,
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
  SCHEDULE_INVALID: { status: 400, retryable: false, say: (d) => `Schedule "${d.schedule}" cannot be kept:${issuesText(d.issues)}` },
  SCHEDULE_NOT_FOUND: { status: 404, retryable: false, say: (d) => `No schedule "${d.schedule}" in this store` },
  SCHEDULE_EXISTS: { status: 409, retryable: false, say: (d) => `Another schedule is named "${d.schedule}": edit that one` },
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
      `Execution "${d.workflowId}" was started before with another ${d.differs}. Choose another id, or use runtime.get to reach the one there is`,
  },
  VERSION_CONFLICT: {
    status: 409,
    retryable: true,
    say: (d) =>
      d.actual === null
        ? `Execution "${d.workflowId}" is no longer the one that was loaded: load it again`
        : `Execution "${d.workflowId}" is at version ${d.actual}, not ${d.expected}: load it and apply again`,
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
      `No execution can go on from ${d.version === undefined ? "" : `version ${d.version} of `}execution "${d.workflowId}": ${d.reason}`,
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
    say: (d) => `Execution "${d.workflowId}" rests (${d.code}): ${d.message}`,
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
  RUNTIME_CLOSED: { status: 503, retryable: false, say: (d) => `The runtime is closed: it cannot ${d.action}` },
  NOT_IN_TIME: {
    status: 504,
    retryable: true,
    say: (d) => `Execution "${d.workflowId}" did not ${d.awaited} within ${d.timeoutMs} ms. It goes on: wait again, or longer`,
  },
};
