import type { Scope } from "../../core/definition/template.ts";
import type { ScopeDraft } from "../../core/transition/draft/draft.ts";
import type { Task } from "../../core/transition/plan.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { Deadline, Deadlines } from "../../environment/system-environment.ts";
import type { Scrub } from "../secrets/scrubber.ts";
import type { PreparedNode } from "../workflow/prepared-node.ts";
import type { PreparedWorkflow } from "../workflow/prepared-workflow.ts";
import type { Intercept } from "./intercept.ts";
import type { ActionPolicy } from "./may.ts";
import type { Outcome } from "./outcome.ts";
import type { Step, StepSurroundings } from "./step.ts";

/** Everything that an attempt needs, apart from the task. */
export interface AttemptContext extends StepSurroundings {
  /** Runs the timeouts of attempts and of their heartbeats. */
  readonly deadlines: Deadlines;
  readonly limits: Limits;
  /** The longest time of one attempt if its node has no `timeout`, in milliseconds. */
  readonly stepTimeoutMs: number;
  /** Returns the workflow with this name, which a step may start as a detached execution. @throws StepfoldError `DEFINITION_UNKNOWN` */
  readonly workflowNamed: (name: string) => PreparedWorkflow;
  /**
   * Decides whether a definition may act on other executions. Null: it may start every workflow that has a name, and signal its own family,
   * but not all executions that wait for a signal.
   */
  readonly may: ActionPolicy | null;
  /** Replaces what performs a task, for tests; null outside of them. */
  readonly intercept: Intercept | null;
  /** Names of the members of `globals` that expressions may read. Null: all members. */
  readonly globalNames: readonly string[] | null;
  /** Removes secrets from a text. */
  readonly scrub: Scrub;
  /** Whether errors keep the stack of the code that threw them. */
  readonly keepStacks: boolean;
  /** Called with each failed attempt and the type of its node, before its outcome is applied; for the log. */
  readonly onFailed: ((thrown: unknown, task: Task, type: string, outcome: Extract<Outcome, { type: "failed" }>) => void) | null;
  /** Called with what an attempt threw, and the type of its node; for plugins. */
  readonly onThrown: ((thrown: unknown, task: Task, type: string) => void) | null;
  /** Called with each heartbeat of a step, and the type of its node; for plugins. */
  readonly onHeartbeat: ((progress: unknown, task: Task, type: string) => void) | null;
}

/** The state of one attempt. */
export interface AttemptState {
  readonly task: Task;
  readonly node: PreparedNode;
  /** The scope in which the task is performed. For a compensation, the scope of the step that it undoes. */
  readonly scopeDraft: ScopeDraft;
  /** What all attempts of the turn have in common. */
  readonly context: AttemptContext;
  readonly startedAt: number;
  /** Returns what the expressions of the task can read. */
  readonly scope: () => Scope;
  /** Called with the outcome, unless `perform` returns it. */
  readonly settle: (outcome: Outcome) => void;
  /** The StepContext of the executor; null until the executor is called. */
  step: Step | null;
  /** The timeout of the attempt; null until the attempt has to wait for a promise. */
  deadline: Deadline | null;
  /** The time by which the next heartbeat has to come; null if none is expected. */
  heartbeatDeadline: Deadline | null;
  /** True once the attempt has an outcome. Everything that happens later is ignored. */
  over: boolean;
}
