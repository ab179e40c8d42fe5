import type { ErrorInfo } from "../../core/errors/error-info.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { IncidentAnswer } from "../../core/transition/paths/incident.ts";
import type { Asked } from "../../engine/commands/asked.ts";
import type { CountQuery } from "../../ports/execution-list.ts";
import type { ForkOptions, ForkPlan } from "../forks/fork.ts";
import type { RestartOptions } from "../forks/plan-restart.ts";
import type { SignalOptions } from "../handle/run.ts";

/** The action that is applied to each of many executions. All except `decide` do the same as the method of `Run` with their name. */
export type BulkAction =
  | ({ readonly action: "cancel"; readonly reason?: string | undefined } & Asked)
  | ({ readonly action: "retry" } & Asked)
  | ({ readonly action: "signal"; readonly name: string; readonly payload?: unknown } & SignalOptions)
  | ({ readonly action: "restart" } & RestartOptions)
  /** The fork of `order-7` gets the id `order-7~SUFFIX`. A second call with the same suffix makes no second fork. */
  | ({ readonly action: "fork"; readonly suffix: string } & Pick<ForkOptions, "node" | "input" | "output" | "definition" | "by">)
  /** Answers every open incident (`incident: true`) of an execution. */
  | ({ readonly action: "decide"; readonly decision: IncidentAnswer } & Asked);

/** Selects the executions of a bulk action, and says how the action is applied. */
export interface BulkOptions {
  /**
   * Selects the executions. Without `status`, these are all to which the action can be applied: those that have not ended; for `retry`
   * those with the status `error` or `parked`, for `restart` those that failed or were cancelled, for `fork` all. Executions that are
   * created meanwhile are left alone. The oldest comes first if the store can sort (`features.lists`), else the newest.
   */
  readonly where?: CountQuery | undefined;
  /** True: nothing is changed, and the outcomes say what would be done. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** The most outcomes. The call ends after this many executions to which there was something to do. Default: no limit. */
  readonly limit?: number | undefined;
}

/** The outcome of a bulk action for one execution. */
export interface BulkOutcome {
  readonly workflowId: string;
  /** The status that the execution had in the list, before the action. */
  readonly status: Status;
  /**
   * `done`: the action was applied. `planned`: it would be applied (`dryRun`). `unchanged`: it was applied before. `refused`: it cannot be
   * applied, `error` says why, and nothing was changed.
   */
  readonly outcome: "done" | "planned" | "unchanged" | "refused";
  readonly error?: Pick<ErrorInfo, "message" | "code">;
  /** Of a restart or a fork: its plan. */
  readonly plan?: ForkPlan;
  /** Of `decide`: the addresses of the incidents. */
  readonly incidents?: readonly string[];
}
