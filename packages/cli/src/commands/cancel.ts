import { StepfoldError } from "stepfold";
import { type MoveOptions, type Moving, moveExecution, optionWords } from "../session/move-execution.ts";
import { refusedCancel } from "../session/refused-cancel.ts";

/** Options of `stepfold cancel`. */
export interface CancelCommandOptions extends MoveOptions {
  readonly step?: string;
  readonly wait?: string;
  readonly reason?: string;
}

/** `stepfold cancel ID`: ends an execution or a part of it, and drives what is to be undone. @returns the exit code */
export async function cancel(workflowId: string, options: CancelCommandOptions): Promise<number> {
  const { step, wait, reason } = options;
  return moveExecution(workflowId, options, {
    verb: "cancel",
    words: optionWords({ "--step": step, "--wait": wait, "--reason": reason }),
    act: async (moving) => {
      const isWhole = step === undefined && wait === undefined;
      try {
        await moving.run.cancel({ step, waitId: wait, reason });
      } catch (error) {
        if (!isWhole || !isBeingCancelled(error, moving)) throw await refusedCancel(error, moving);
        moving.note("It is being cancelled already; going on");
      }
      return isWhole ? "cancelled" : undefined;
    },
  });
}

/** A command that was killed while what had been done was undone, or what comes at the end was done, can be given again. */
function isBeingCancelled(error: unknown, { before: { ending, closing } }: Moving): boolean {
  return StepfoldError.is(error, "EXECUTION_ENDED") && (ending ?? closing)?.status === "cancelled";
}
