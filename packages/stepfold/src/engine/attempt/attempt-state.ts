import type { Scope } from "../../core/definition/template.ts";
import type { ScopeDraft } from "../../core/transition/draft/draft.ts";
import type { Task } from "../../core/transition/plan.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { Deadline, Deadlines } from "../../environment/system-environment.ts";
import type { PreparedNode } from "../workflow/prepared-node.ts";
import type { PreparedWorkflow } from "../workflow/prepared-workflow.ts";
import type { May } from "./may.ts";
import type { Outcome } from "./outcome.ts";
import type { Step, StepSurroundings } from "./step.ts";

/** Everything that an attempt needs, apart from the task. */
export interface AttemptContext extends StepSurroundings {
  readonly deadlines: Deadlines;
  readonly limits: Limits;
  /** Longest time of one attempt where neither node nor type says. */
  readonly stepTimeoutMs: number;
  /** Workflows that may be begun as executions of their own. @throws StepfoldError `DEFINITION_UNKNOWN` */
  readonly workflowNamed: (name: string) => PreparedWorkflow;
  /** Judges what a definition does to other executions. Null: it may start what has a name. */
  readonly may: May | null;
  /** What expressions may read of `globals`. Null: everything. */
  readonly globalNames: readonly string[] | null;
  readonly scrub: (text: string) => string;
  /** Whether errors keep the stack of the code that threw them. */
  readonly keepStacks: boolean;
  readonly onFailed: ((thrown: unknown, task: Task, outcome: Extract<Outcome, { type: "failed" }>) => void) | null;
  readonly onThrown: ((thrown: unknown, task: Task) => void) | null;
  readonly onHeartbeat: ((progress: unknown, task: Task) => void) | null;
}

/** The state of one attempt. */
export interface AttemptState {
  readonly task: Task;
  readonly node: PreparedNode;
  /** The scope that it happens in. */
  readonly place: ScopeDraft;
  readonly around: AttemptContext;
  readonly startedAt: number;
  readonly scope: () => Scope;
  readonly settle: (outcome: Outcome) => void;
  step: Step | null;
  /** By when it has to be over; null if there is no such time. */
  deadline: Deadline | null;
  /** By when the next heartbeat has to come; null if none is expected. */
  heartbeatDeadline: Deadline | null;
  /** True once the attempt has an outcome: what comes later is ignored. */
  over: boolean;
}
