import type { EpochMs } from "../values/json.ts";

/** The execution that started this one as a detached child. */
export interface ParentLink {
  readonly workflowId: string;
  readonly incarnation?: string;
  /** The wait that the end of this execution answers; absent if the parent does not wait. */
  readonly waitId?: string;
  /** How many executions are above this one: its parent, the parent's parent, and so on. */
  readonly depth: number;
  /** How many detached executions this one may lead to, directly and indirectly. Absent: as many as the limit `descendants` allows. */
  readonly descendants?: number;
}

/** The execution from which another one goes on. */
export interface Origin {
  readonly workflowId: string;
  readonly incarnation?: string;
  /** The last version that the new execution has taken over. */
  readonly version: number;
  readonly reason: "fork" | "restart" | "adopt";
}

/** A run of an execution: what happens between two `continueAs`. */
export interface Run {
  /** 2 for the first one after a `continueAs`. */
  readonly number: number;
  /** Version of the event with which it began; 0 if the execution goes on from another one, for example as a fork, in a later run. */
  readonly since: number;
  /** When it began. */
  readonly at: EpochMs;
  /** How many runs before it, one after the other, have ended within a second and were not moved from outside. Absent: none. */
  readonly quick?: number;
}
