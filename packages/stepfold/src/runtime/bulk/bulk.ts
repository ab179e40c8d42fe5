import type { ErrorInfo } from "../../core/errors/error-info.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { IncidentAnswer } from "../../core/transition/paths/incident.ts";
import type { CountQuery } from "../../ports/snapshot-store.ts";
import type { ForkOptions, ForkPlan, RestartOptions } from "../forks/fork.ts";
import type { SignalOptions } from "../handle/run.ts";

/** What is done to each of many executions. Each does what the method of `Run` with this name does. */
export type BulkAction =
  | { readonly action: "cancel"; readonly reason?: string | undefined }
  | { readonly action: "retry" }
  | ({ readonly action: "signal"; readonly name: string; readonly payload?: unknown } & SignalOptions)
  | ({ readonly action: "restart" } & RestartOptions)
  /** The fork of `order-7` gets the id `order-7~SUFFIX`: the same suffix makes no second fork. */
  | ({ readonly action: "fork"; readonly suffix: string } & Pick<ForkOptions, "node" | "input" | "output" | "definition">)
  /** Answers every open incident (`incident: true`) of an execution. */
  | { readonly action: "decide"; readonly decision: IncidentAnswer; readonly by?: string | undefined };

/** To which executions it is done, and how. */
export interface BulkOptions {
  /**
   * Which executions. Without `status`: all to which it can be done, so those that have not ended, for `restart` those that have failed or were
   * cancelled, for `fork` all. Executions that are created meanwhile are left alone. The oldest comes first.
   */
  readonly where?: CountQuery | undefined;
  /** Changes nothing, and says what would be done. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** Ends after so many executions to which there was something to do. Default: no limit. */
  readonly limit?: number | undefined;
}

/** What has become of one execution. */
export interface BulkOutcome {
  readonly workflowId: string;
  /** As it was found. */
  readonly status: Status;
  /**
   * `planned`: it would be done (`dryRun`). `unchanged`: it was done before. `refused`: it cannot be done, `error` says why, and nothing was
   * changed.
   */
  readonly outcome: "done" | "planned" | "unchanged" | "refused";
  readonly error?: Pick<ErrorInfo, "message" | "code">;
  /** Of a restart or a fork: what goes on in its place, and from where. */
  readonly plan?: ForkPlan;
  /** Of `decide`: the places of the incidents. */
  readonly incidents?: readonly string[];
}
