import type { Limits } from "../core/values/limits.ts";
import type { Deadlines } from "../environment/system-environment.ts";
import type { Environment } from "../ports/environment.ts";
import type { Intercept } from "./attempt/intercept.ts";
import type { ActionPolicy } from "./attempt/may.ts";
import type { Logger } from "./logger.ts";
import type { Plugin } from "./plugin.ts";
import type { PreparedWorkflow } from "./workflow/prepared-workflow.ts";

/** What all turns of an engine or a runtime share. */
export interface TurnSetting {
  readonly environment: Environment;
  readonly deadlines: Deadlines;
  readonly limits: Limits;
  /** The longest time of one attempt if its node has no `timeout`. */
  readonly stepTimeoutMs: number;
  readonly plugins: readonly Plugin[];
  readonly logger: Logger | null;
  /** Whether errors keep the stack of the code that threw them. */
  readonly keepStacks: boolean;
  /** Returns the workflow with this name, which a step may start as a detached execution. */
  readonly workflowNamed: (name: string) => PreparedWorkflow;
  /** Decides whether a definition may act on other executions; null if the host does not decide. */
  readonly may: ActionPolicy | null;
  /** Replaces what performs a task, for tests; null outside of them. */
  readonly intercept: Intercept | null;
}
