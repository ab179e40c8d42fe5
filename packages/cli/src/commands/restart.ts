import { StepfoldError } from "stepfold";
import type { RestartOptions, RestartOutcome } from "stepfold/runtime";
import { BadInput } from "../bad-input.ts";
import { say } from "../output.ts";
import { withDefinition } from "../session/given-definition.ts";
import { moveExecution } from "../session/move-execution.ts";
import { type PlannedOptions, printPlan, withIdleRun } from "../session/print-plan.ts";

/** Options of `stepfold restart`. */
export interface RestartCommandOptions extends PlannedOptions {
  readonly compensated?: string;
  readonly idempotencyKey?: string;
  readonly newKeys?: boolean;
}

/** What is told if the call has restarted nothing. */
const unchanged: Readonly<Record<Exclude<RestartOutcome["reason"], "restarted">, string>> = {
  open: "It was restarted before, and has not ended since; going on",
  repeated: "This restart was made before; going on",
  completed: "It was restarted before, and has completed since: nothing is left to do",
};

/** `stepfold restart ID`: lets an execution go on where it failed or was cancelled, and drives it on. @returns the exit code */
export async function restart(workflowId: string, options: RestartCommandOptions): Promise<number> {
  const wanted = wantedRestart(options);
  try {
    if (options.dryRun) {
      const plan = await withIdleRun(workflowId, options, (run, definition) => run.planRestart({ ...wanted, definition }));
      return printPlan(plan, "It", options.json);
    }
    return await moveExecution(workflowId, options, {
      // after an interruption the execution is only driven on
      verb: "retry",
      repeatOptions: [],
      act: async ({ run, config, note }) => {
        const outcome = await withDefinition(options.definition, config, (definition) => run.restart({ ...wanted, definition }));
        if (options.json) say(`${JSON.stringify({ type: "restart", workflowId, ...outcome })}\n`);
        else if (outcome.reason !== "restarted") note(unchanged[outcome.reason]);
        return undefined;
      },
    });
  } catch (error) {
    if (!StepfoldError.is(error, "RESTART_COMPENSATED")) throw error;
    throw new BadInput("RESTART_COMPENSATED", `Steps of execution "${workflowId}" were undone: ${error.details.nodes.join(", ")}`, {
      hint: "--compensated again performs them once more; --compensated keep counts them as done",
      details: { ...error.details },
      cause: error,
    });
  }
}

/** Returns the options of a restart as the command line gives them. @throws BadInput */
export function wantedRestart(given: Pick<RestartCommandOptions, "compensated" | "idempotencyKey" | "newKeys">): RestartOptions {
  const { compensated, idempotencyKey, newKeys } = given;
  if (compensated !== undefined && compensated !== "again" && compensated !== "keep")
    throw new BadInput("USAGE", `--compensated must be again or keep, not "${compensated}"`);
  return { compensated, idempotencyKey, keys: newKeys ? "new" : undefined };
}
