import type { EpochMs, Json, JsonSchema } from "../../values/json.ts";
import type { InEvents } from "./in-events.ts";
import type { Refusal } from "./refusal.ts";

/** One of the answers to a wait that needs several (`Wait.quorum`). `by` is the responder who gave it. */
export interface Answer extends InEvents {
  readonly by: string;
  readonly at: EpochMs;
  readonly payload?: Json;
}

/** One thing that a suspended path waits for. If a path has several waits, the first one that is answered withdraws the others. */
export interface Wait extends InEvents {
  /** `pathId@turn`, in a child after the child's key: `0#1/3>0@2`. Further waits of the path end in `.1`, `.2`. Never used twice. */
  readonly id: string;
  /** The id under which it was first open. Absent: its id. A wait has another one after the code of the node has refused an answer. */
  readonly firstId?: string;
  /**
   * `external`: a payload from outside. `signal`: a signal by its name. `timer`: only time. `child`: the end of a detached execution.
   * `incident`: a decision about a step that has failed for good; its payload is `{ error, attempt }`, its answer an `IncidentAnswer`.
   * `children`: the end of the path's sub-workflow or items, by `timeoutAt`. `delivery`: the arrival of a signal that the step has
   * sent. The payload `{ workflowId, signal, key? }` names it; without `workflowId`, it goes to all executions that wait for it.
   */
  readonly kind: "external" | "signal" | "timer" | "child" | "incident" | "children" | "delivery";
  /** The payload with which the step suspended: data for those who answer. */
  readonly payload?: Json;
  /** JSON Schema of the payload of an answer. */
  readonly schema?: JsonSchema;
  /**
   * How the type of the node checks the payload: the id of a JSON Schema in `schemas` of the snapshot, or `code` if only the code of the
   * type can check it. Absent: the type does not check it. If the wait has a `schema` of its own, that is checked first.
   */
  readonly typeSchema?: string;
  /** Why the code of the node refused the last answer. Absent: no answer was refused. */
  readonly refused?: Refusal;
  /** Name of the signal. */
  readonly signal?: string;
  /** Only a signal with the same key answers the wait. Absent: only a signal without a key. */
  readonly key?: string;
  /** The wait delays the start of the execution (`startAt`). After it the node is performed as if there had been no wait. */
  readonly begins?: true;
  /** The answer is the result of the step, whose code is not performed again. Only of steps that code has asked for. */
  readonly yields?: true;
  /** A signal that came before the wait was opened does not answer it. */
  readonly transient?: true;
  /** When the wait was opened. Absent: an earlier version of Stepfold opened it. */
  readonly openedAt?: EpochMs;
  /** When the step runs again without an answer. */
  readonly resumeAt?: EpochMs;
  /** The deadline of the wait. After it the path leaves by the handle `timeout` or `error`, or the step fails (`children`: or retries). */
  readonly timeoutAt?: EpochMs;
  /** Who may answer. Absent: anybody. */
  readonly responders?: readonly string[];
  /** How many answers, from different responders, the wait needs. Absent: one answer. */
  readonly quorum?: number;
  /** Name of a boolean member of the payload: only answers where it is true count for the quorum. */
  readonly tally?: string;
  /** The answers that have come so far, if the wait needs several. */
  readonly answers?: readonly Answer[];
  /** With the kind `child`: the execution that has to end. */
  readonly workflowId?: string;
}

/** The waits that are opened again if the code of the node refuses an answer. */
export interface Reopening {
  /** The wait that was answered. */
  readonly waitId: string;
  /** All waits of the path as they were before the answer, without `payload`: all had the payload that is in `Resumed.suspendPayload`. */
  readonly waits: readonly Wait[];
  /** Version of the event with the answer; absent for a signal that came before the wait. */
  readonly version?: number;
}

/** Why a suspended step runs again. */
export interface Resumed extends InEvents {
  readonly by: "payload" | "signal" | "timer" | "child" | "delivery";
  readonly payload?: Json;
  /** The payload with which the step had suspended. */
  readonly suspendPayload?: Json;
  /** Name of the signal that came. */
  readonly signal?: string;
  /** Key of the signal. */
  readonly key?: string;
  /** Who answered, according to the caller. */
  readonly who?: string;
  /** The payload is the result of the step, null after a timer: the step is not performed again. */
  readonly yields?: true;
  /** The schema of a payload that is not checked yet, because the signal came before the step waited for it. */
  readonly schema?: JsonSchema;
  /** All answers, if the wait needed several. */
  readonly answers?: readonly Answer[];
  /** The waits to open again if the code of the node refuses the payload. Absent: the code cannot refuse it. */
  readonly reopens?: Reopening;
}
