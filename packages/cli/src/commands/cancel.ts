import { StepfoldError } from "stepfold";
import { type MoveOptions, type Moving, moveExecution, optionWords } from "../session/move-execution.ts";
import { refusedCancel } from "../session/refused-cancel.ts";

/** Options of `stepfold cancel`. */
export interface CancelCommandOptions extends MoveOptions {
  readonly step?: string;
  readonly wait?: string;
  readonly reason?: string;
}

/** `stepfold cancel ID`: ends an execution or a part of it, and performs the compensations that this needs. @returns the exit code */
export async function cancel(workflowId: string, options: CancelCommandOptions): Promise<number> {
  const { step, wait, reason } = options;
  return moveExecution(workflowId, options, {
    verb: "cancel",
    repeatOptions: optionWords({ "--step": step, "--wait": wait, "--reason": reason }),
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

/** True if an earlier cancellation is in progress: its compensations or its `finally` nodes run. The command then goes on with that. */
function isBeingCancelled(error: unknown, { before: { ending, closing } }: Moving): boolean {
  return StepfoldError.is(error, "EXECUTION_ENDED") && (ending ?? closing)?.status === "cancelled";
}
