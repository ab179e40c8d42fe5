import type { ErrorInfo } from "../../errors/error-info.ts";
import type { EpochMs, Json } from "../../values/json.ts";

/** The tick of a schedule that started an execution. */
export interface ScheduledBy {
  /** Name of the schedule. */
  readonly schedule: string;
  /** Id of the execution that the schedule was at that time (a schedule is an execution too). */
  readonly workflowId: string;
  /** Time of the tick. The execution may have started later. */
  readonly at: EpochMs;
  /** The schedule is told when the execution has ended. Absent: the schedule does not wait for the end. */
  readonly reports?: true;
}

/**
 * A message to another execution. It stays in the outbox until the other execution has stored it, or it is certain that this cannot happen.
 *
 * `start` begins a detached child, `cancel` cancels it.
 * `reopened` tells the schedule of the sender that the sender was restarted. `ended` tells the parent or the schedule of the sender how the sender has ended.
 */
export type Message =
  | (Addressed & { readonly type: "start"; readonly waitId?: string } & Omit<ChildStart, "workflowId" | "allowed">)
  | (Addressed & { readonly type: "cancel"; readonly waitId: string })
  | (Addressed & { readonly type: "ended" })
  | (Addressed & { readonly type: "reopened" })
  | (Addressed & RootStart)
  | (Addressed & RootCancel)
  | (Addressed & AdoptChild)
  | (Addressed & Omit<SignalSend, "allowed"> & { readonly waitId: string })
  | ({ readonly id: string; readonly to?: undefined } & Omit<SignalBroadcast, "allowed"> & { readonly waitId: string });

/**
 * Lets an execution that was restarted wait again for a detached execution that it had started. If that has completed, the wait is told its
 * end; if it failed or was cancelled, it is restarted; if it still runs, it tells its end later.
 */
interface AdoptChild {
  readonly type: "adopt";
  readonly waitId: string;
  /** The option `compensated` of the restart: what happens to steps that were undone. Absent: they are performed again. */
  readonly compensated?: "again" | "keep";
}

interface Addressed {
  /** Id of the message in the outbox: the version that added it, and its number there, such as `7.0`. */
  readonly id: string;
  /** Id of the execution that receives the message. */
  readonly to: string;
}

/** Starts an execution that has no parent. It runs the definition that has the name `workflow` when the message is delivered. */
export interface RootStart {
  readonly type: "startRoot";
  readonly to: string;
  readonly workflow: string;
  readonly input?: Json;
  readonly metadata?: Readonly<Record<string, Json>>;
  readonly scheduledBy: ScheduledBy;
}

/** Cancels an execution, but only if this schedule has started it. */
export interface RootCancel {
  readonly type: "cancelRoot";
  readonly to: string;
  readonly schedule: string;
}

/** A signal of a step to another execution of the same tenant. The step waits until the signal has arrived, or cannot arrive any more. */
export interface SignalSend {
  readonly type: "signal";
  readonly to: string;
  readonly name: string;
  readonly key?: string;
  readonly payload?: Json;
  /** How long the receiver keeps the signal if no step waits for it yet. Absent: as long as any other signal. */
  readonly ttlMs?: number;
  /** The host was asked (`may`), and has allowed the signal. Absent: the host does not decide this. */
  readonly allowed?: true;
}

/** A signal of a step to all executions of the same tenant that wait for it. The step waits until it was sent to each of them. */
export interface SignalBroadcast {
  readonly type: "broadcast";
  readonly name: string;
  readonly key: string;
  /** Only executions of this workflow get the signal. Absent: executions of all workflows. */
  readonly workflow?: string;
  readonly payload?: Json;
  /** The host was asked (`may`), and has allowed the signal. */
  readonly allowed: true;
}

/** A detached execution that a step starts. */
export interface ChildStart {
  readonly workflowId: string;
  /** The definition as it was when the step ran. */
  readonly definition: { readonly id: string; readonly hash: string };
  readonly input?: Json;
  /** How many detached executions the new one may lead to: those that it starts, and those that these start. */
  readonly descendants?: number;
  /**
   * The host was asked (`may`), and has allowed the start. Absent: the host does not decide this. If the host refuses, the step fails
   * instead.
   */
  readonly allowed?: true;
}

/** How an execution has ended, as its parent is told; also how it will end, while its `finally` nodes run. */
export interface ChildEnd {
  readonly status: "completed" | "failed" | "cancelled";
  readonly output?: Json;
  readonly error?: ErrorInfo;
}
