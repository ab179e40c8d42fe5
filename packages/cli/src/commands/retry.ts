import { explain, type Snapshot, StepfoldError } from "stepfold";
import { BadInput } from "../bad-input.ts";
import { shellQuote } from "../execution/shell-quote.ts";
import { canRunNow } from "../execution/status.ts";
import { type MoveOptions, moveExecution, optionWords } from "../session/move-execution.ts";

/** Options of `stepfold retry`. */
export interface RetryCommandOptions extends MoveOptions {
  readonly step?: string;
}

/** `stepfold retry ID`: makes a pending retry at once, and drives the execution on. @returns the exit code */
export async function retry(workflowId: string, options: RetryCommandOptions): Promise<number> {
  const { step } = options;
  return moveExecution(workflowId, options, {
    verb: "retry",
    repeatOptions: optionWords({ "--step": step }),
    act: async ({ run, note, store }) => {
      try {
        await run.retry(step === undefined ? {} : { step });
      } catch (error) {
        // an execution that a crash or Ctrl-C has interrupted needs no retry: it is only driven on
        if (!StepfoldError.is(error, "RETRY_NOT_PENDING")) throw error;
        const left = step === undefined && canRunNow(await run.snapshot(), await store.now());
        if (!left) throw notPending(await run.snapshot(), step, error);
        note("No retry is pending, but something is to run; going on");
      }
      return undefined;
    },
  });
}

function notPending(snapshot: Snapshot, step: string | undefined, cause: StepfoldError<"RETRY_NOT_PENDING">): BadInput {
  const { places } = explain(snapshot);
  const pending = places.filter(({ status }) => status === "retrying").map(({ address }) => address);
  const where = step === undefined ? "" : ` at "${step}"`;
  return new BadInput("RETRY_NOT_PENDING", `Execution "${snapshot.workflowId}" has no retry pending${where}`, {
    hint:
      pending.length > 0
        ? `Pending retries: ${pending.join(", ")}`
        : `stepfold show ${shellQuote(snapshot.workflowId)} tells where it stands`,
    details: { workflowId: snapshot.workflowId, pending },
    cause,
  });
}
