import { randomUUID } from "node:crypto";
import { readDuration } from "../arguments/read-duration.ts";
import { jsonArgument } from "../json/json-argument.ts";
import { type MoveOptions, moveExecution, optionWords } from "../session/move-execution.ts";
import { refusedAnswer } from "../session/refused-answer.ts";

/** Options of `stepfold signal`. */
export interface SignalCommandOptions extends MoveOptions {
  readonly payload?: string;
  readonly key?: string;
  readonly ttl?: string;
  readonly idempotencyKey?: string;
}

/** `stepfold signal ID NAME`: sends a signal to an execution, and drives it on. @returns the exit code */
export async function signal(workflowId: string, name: string, options: SignalCommandOptions): Promise<number> {
  const { key, ttl } = options;
  const ttlMs = ttl === undefined ? undefined : readDuration("--ttl", ttl, "how long it is kept, such as 1h30m, 2 days or PT5M");
  const payload = options.payload === undefined ? undefined : await jsonArgument(options.payload, "--payload");
  // the command that is printed after an interruption repeats this key, so that it does not send a second signal
  const idempotencyKey = options.idempotencyKey ?? randomUUID();
  return moveExecution(workflowId, options, {
    verb: "signal",
    repeatArguments: [name],
    repeatOptions: optionWords({
      "--key": key,
      "--payload": options.payload?.trim() === "-" ? JSON.stringify(payload) : options.payload,
      "--ttl": ttl,
      "--idempotency-key": idempotencyKey,
    }),
    act: async (moving) => {
      try {
        const { applied } = await moving.run.signal(name, payload, { key, ttl: ttlMs, idempotencyKey });
        if (!applied) moving.note("This signal was sent before; going on");
      } catch (error) {
        throw await refusedAnswer(error, moving, { fits: (wait) => wait.signal === name && wait.key === key });
      }
      return undefined;
    },
  });
}
