import { StepfoldError } from "stepfold";
import { BadInput } from "../bad-input.ts";
import { readCompensated } from "../session/compensated.ts";
import { type GoOnOptions, goOn } from "../session/go-on.ts";

/** Options of `stepfold restart`. */
export interface RestartCommandOptions extends GoOnOptions {
  readonly compensated?: string;
}

/** `stepfold restart ID`: starts a new execution that goes on where this one failed or was cancelled. @returns the exit code */
export async function restart(workflowId: string, options: RestartCommandOptions): Promise<number> {
  const compensated = readCompensated(options.compensated);
  try {
    return await goOn(workflowId, options, {
      plan: (run, definition) => run.planRestart({ compensated, definition }),
      begin: async (run, definition) => {
        await run.restart({ compensated, definition });
        return run;
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
