import type { Issue } from "./issue.ts";
import type { SchemaIssue } from "./schema-issue.ts";

/** The fields that come with each code. */
interface DetailsByCode {
  // definitions
  DEFINITION_INVALID: { workflow: string; issues: readonly Issue[] };
  DEFINITION_UNKNOWN: { workflow: string; known: readonly string[] };
  DEFINITION_MISSING: { workflowId: string; hash: string };
  DEFINITION_CHANGED: {
    workflowId: string;
    /** Hash of the definition that was given; with `isStored`, the real hash of the definition that the store has. */
    expected: string;
    /** Hash of the definition that the execution was started with. */
    actual: string;
    /** Nodes at which the execution stands, and which the given definition lacks or has without a part that is needed, such as `join`. */
    missing?: readonly string[];
    /** The store has a definition under the hash `actual` that does not match this hash. */
    isStored?: true;
    /** The execution runs in the journal of a host, which can go on only with the definition of the start. */
    inJournal?: true;
  };
  NODE_TYPE_UNKNOWN: { nodeId: string; type: string; known: readonly string[] };
  NODE_UNKNOWN: { nodeId: string; workflow: string };
  START_AMBIGUOUS: { workflow: string; candidates: readonly string[] };
  CODE_CHANGED: { workflowId: string; reason: string };
  CODE_MISPLACED: { workflow: string };
  CODE_UNSUPPORTED: { workflow: string };
  // values
  VALUE_NOT_JSON: { what: string; pointer: string; reason: string };
  LIMIT_EXCEEDED: { what: string; limit: string; max: number; actual: number; pointer?: string };
  SNAPSHOT_INVALID: { pointer: string; reason: string };
  SNAPSHOT_TOO_NEW: { schema: number; supported: number };
  OPTION_INVALID: { option: string; reason: string };
  OPTION_UNKNOWN: { of: string; option: string; known: readonly string[]; meant?: string };
  INPUT_INVALID: { workflow: string; issues: readonly SchemaIssue[] };
  /** With `hasMonths`, it is a length of time in months or years. */
  DURATION_INVALID: { text: string; hasMonths?: true };
  // steps
  DATA_INVALID: { nodeId: string; issues: readonly SchemaIssue[] };
  OUTPUT_INVALID: { nodeId: string; issues: readonly SchemaIssue[] };
  HANDLE_UNKNOWN: { nodeId: string; handle: string; known: readonly string[] };
  HANDLE_MISSING: { nodeId: string; known: readonly string[] };
  VARIABLE_INVALID: { nodeId: string; variable: string; reason: string };
  STEP_TIMEOUT: { nodeId: string; timeoutMs: number };
  HEARTBEAT_TIMEOUT: { nodeId: string; timeoutMs: number };
  EXECUTION_TIMED_OUT: { workflowId: string; deadline: string; workflow?: string };
  STEPS_EXCEEDED: { workflowId: string; max: number };
  JOIN_SHORT: { nodeId: string; wanted: number; came: number };
  LINK_INVALID: Readonly<Record<never, never>>;
  ACTION_DENIED: { nodeId: string; action: string; workflow?: string; id: string; reason: string };
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
  METADATA_CONFLICT: { workflowId: string };
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
    /** Further facts about the error, as JSON: of a node of type `fail`, of a `FatalError`, or of an answer of `http`. */
    details?: unknown;
    /** If a map failed: its first failed item, and the error of that item. */
    cause?: { readonly item: number; readonly nodeId?: string; readonly code?: string; readonly message: string };
    /** Nodes whose effects could not be undone. */
    notUndone?: readonly string[];
  };
  EXECUTION_CANCELLED: { workflowId: string; reason?: string; notUndone?: readonly string[] };
  RETRY_NOT_PENDING: { workflowId: string; node?: string };
  // schedules
  SCHEDULE_INVALID: { schedule: string; issues: readonly SchemaIssue[] };
  SCHEDULE_NOT_FOUND: { schedule: string };
  SCHEDULE_EXISTS: { schedule: string };
  /** `action` is what was refused, `use` the call of `runtime.schedules` that does it. */
  SCHEDULE_DENIED: { workflowId: string; action: string; use: string };
  // stores
  /** `deletedAt` is present if the execution was deleted and its id is still reserved. */
  WORKFLOW_EXISTS: { workflowId: string; deletedAt?: number };
  WORKFLOW_NOT_FOUND: { workflowId: string };
  START_CONFLICT: { workflowId: string; differs: "definition" | "input" | "parent" | "tenant" | "origin" | "schedule" };
  /** `actual` is null if the execution that was loaded does not exist any more, even if another one has its id. */
  VERSION_CONFLICT: { workflowId: string; expected: number; actual: number | null };
  /** Hashes of the published definition: the expected and the actual one; null if none is published. */
  LABEL_CONFLICT: { workflow: string; expected: string | null; actual: string | null };
  FENCE_LOST: { workflowId: string };
  EXECUTION_PARKED: { workflowId: string; code: string; message: string };
  WORKFLOW_LEFT: { workflowId: string; workflow: string; code: string; reason: string };
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
  STEP_LOST: { host: string; workflowId: string; step: string; reason: string };
  RUNTIME_CLOSED: { action: string };
  NOT_IN_TIME: { workflowId: string; awaited: string; timeoutMs: number };
}

/** Stable identifier of a failure. Adding one is a minor change, renaming one a major. */
export type ErrorCode = keyof DetailsByCode;

/** The fields that come with an error of code C. */
export type ErrorDetails<C extends ErrorCode> = DetailsByCode[C];
