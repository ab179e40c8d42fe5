import type { Limits } from "../core/values/limits.ts";
import type { Deadlines } from "../environment/system-environment.ts";
import type { Environment } from "../ports/environment.ts";
import type { May } from "./attempt/may.ts";
import type { Logger } from "./logger.ts";
import type { Plugin } from "./plugin.ts";
import type { PreparedWorkflow } from "./workflow/prepared-workflow.ts";

/** What all turns of an engine or a runtime share. */
export interface TurnSetting {
  readonly environment: Environment;
  readonly deadlines: Deadlines;
  readonly limits: Limits;
  readonly stepTimeoutMs: number;
  readonly plugins: readonly Plugin[];
  readonly logger: Logger | null;
  /** Whether errors keep the stack of the code that threw them. */
  readonly keepStacks: boolean;
  readonly workflowNamed: (name: string) => PreparedWorkflow;
  /** Judges what a definition does to other executions. */
  readonly may: May | null;
}
