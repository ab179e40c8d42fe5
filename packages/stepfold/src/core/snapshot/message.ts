import type { ErrorInfo } from "../errors/error-info.ts";
import type { EpochMs, Json } from "../values/json.ts";

/** The tick of a schedule that began an execution. */
export interface ScheduledBy {
  /** Name of the schedule. */
  readonly schedule: string;
  /** The execution that the schedule was then. */
  readonly workflowId: string;
  /** The tick, also where it began later. */
  readonly at: EpochMs;
  /** Its end is told to the schedule. */
  readonly reports?: true;
}

/** A message to another execution. It stays in the outbox until the other execution has stored it. */
export type Message =
  | (Addressed & { readonly type: "start"; readonly waitId?: string } & Omit<ChildStart, "workflowId" | "allowed">)
  | (Addressed & { readonly type: "cancel"; readonly waitId: string })
  | (Addressed & { readonly type: "continue"; readonly input?: Json })
  | (Addressed & { readonly type: "ended" })
  | (Addressed & RootStart)
  | (Addressed & RootCancel)
  | (Addressed & AdoptChild)
  | (Addressed & Omit<SignalSend, "allowed"> & { readonly waitId: string })
  | ({ readonly id: string; readonly to?: undefined } & Omit<SignalBroadcast, "allowed"> & { readonly waitId: string });

/**
 * A restarted execution goes on to wait for a detached execution of its origin: one that has ended well tells its end, one that has failed
 * or was cancelled is restarted, and one that still runs will tell its end.
 */
interface AdoptChild {
  readonly type: "adopt";
  readonly waitId: string;
  /** As it was said for the restart. */
  readonly compensated?: "again" | "keep";
}

interface Addressed {
  readonly id: string;
  /** The execution that it is for. */
  readonly to: string;
}

/** Starts an execution that has no parent. It runs the definition that has this name when the message is delivered. */
export interface RootStart {
  readonly type: "startRoot";
  readonly to: string;
  readonly workflow: string;
  readonly input?: Json;
  readonly metadata?: Readonly<Record<string, Json>>;
  readonly scheduledBy: ScheduledBy;
}

/** Cancels an execution, if it is one that this schedule has started. */
export interface RootCancel {
  readonly type: "cancelRoot";
  readonly to: string;
  readonly schedule: string;
}

/** A signal of a step to another execution, of the same tenant. The step waits until it has arrived. */
export interface SignalSend {
  readonly type: "signal";
  readonly to: string;
  readonly name: string;
  readonly key?: string;
  readonly payload?: Json;
  /** How long it is kept where nobody waits for it yet. Absent: as the signals of anybody. */
  readonly ttlMs?: number;
  /** The verdict of the host, where one was asked for (`may`). */
  readonly allowed?: true;
}

/** A signal of a step to all executions of the same tenant that wait for it. The step waits until all of them have it. */
export interface SignalBroadcast {
  readonly type: "broadcast";
  readonly name: string;
  readonly key: string;
  /** Only to executions of this workflow. */
  readonly workflow?: string;
  readonly payload?: Json;
  /** The verdict of the host. */
  readonly allowed: true;
}

/** An execution of its own that a step begins. */
export interface ChildStart {
  readonly workflowId: string;
  /** As it was when the step ran. */
  readonly definition: { readonly id: string; readonly hash: string };
  readonly input?: Json;
  /** How many executions it may lead to in turn. */
  readonly descendants?: number;
  /** The verdict of the host, where one was asked for (`may`). Without it nothing is started. */
  readonly allowed?: true;
}

/** How an execution has ended, for the one that began it. */
export interface ChildEnd {
  readonly status: "completed" | "failed" | "cancelled";
  readonly output?: Json;
  readonly error?: ErrorInfo;
}
