import { StepfoldError } from "stepfold";
import { jsonArgument } from "../json/json-argument.ts";
import { wasAnswered } from "../session/answered-before.ts";
import { type MoveOptions, type Moving, moveExecution, optionWords } from "../session/move-execution.ts";
import { type Meant, refusedAnswer } from "../session/refused-answer.ts";

/** Options of `stepfold resume`. */
export interface ResumeCommandOptions extends MoveOptions {
  readonly step?: string;
  readonly wait?: string;
  readonly payload?: string;
  readonly by?: string;
  readonly idempotencyKey?: string;
}

/** The answer as the user gave it. */
interface Given {
  readonly step: string | undefined;
  readonly wait: string | undefined;
  readonly payload: unknown;
  readonly by: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** `stepfold resume ID`: answers a wait, and drives the execution to its end or its next pause. @returns the exit code */
export async function resume(workflowId: string, options: ResumeCommandOptions): Promise<number> {
  const { step, wait, by, idempotencyKey } = options;
  const payload = options.payload === undefined ? undefined : await jsonArgument(options.payload, "--payload");
  const given = { step, wait, payload, by, idempotencyKey };
  return moveExecution(workflowId, options, {
    verb: "resume",
    repeatOptions: optionWords({
      "--step": step,
      "--wait": wait,
      "--payload": options.payload?.trim() === "-" ? JSON.stringify(payload) : options.payload,
      "--by": by,
      "--idempotency-key": idempotencyKey,
    }),
    act: async (moving) => {
      await answer(moving, given);
      return undefined;
    },
  });
}

/** Gives the answer. If the same answer was given before, only a note is printed, and the command drives the execution on. */
async function answer(moving: Moving, given: Given): Promise<void> {
  const { run, note, store } = moving;
  const { step, wait, payload, by, idempotencyKey } = given;
  const meant: Meant = {
    by,
    fits: ({ id, kind, address, nodeId }) =>
      kind === "external" && (wait === undefined || wait === id) && (step === undefined || step === address || step === nodeId),
  };
  try {
    const { applied } = await run.resume({ step, waitId: wait, payload, by, idempotencyKey });
    if (!applied) note("This answer was given before; going on");
  } catch (error) {
    const gone = (["WAIT_GONE", "EXECUTION_ENDED"] as const).some((code) => StepfoldError.is(error, code));
    if (!gone && !StepfoldError.is(error, "RESPONDER_DENIED")) throw await refusedAnswer(error, moving, meant);
    if (await wasAnswered(store, run.workflowId, { step, wait, payload, by })) return note("This answer was given before; going on");
    const asksNothing = step === undefined && wait === undefined && payload === undefined;
    // a command without an answer only drives an execution on that a crash or Ctrl-C has interrupted
    if (!asksNothing || !StepfoldError.is(error, "WAIT_GONE")) throw await refusedAnswer(error, moving, meant);
    note("It waits for no answer; going on");
  }
}
