import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { refuseUnknown } from "../../core/values/check-arguments.ts";
import { type RuntimeContext, requireAtLeastOne } from "../context/runtime-context.ts";

/** How a wait is ended from outside. */
export interface WaitOptions {
  /** Ends the wait, which then rejects with its reason. Nothing else changes: the execution goes on. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time to wait, in milliseconds; then the wait rejects with `NOT_IN_TIME`. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** The end of a wait from outside: by its signal, by its timeout, or by the end of the runtime. */
export interface EndOfWait {
  /** Aborted when the wait must end. Its reason is thrown. */
  readonly signal: AbortSignal;
  /** Removes the timeout, once the wait is over. */
  readonly cancel: () => void;
}

/** What is waited for, for errors, and which other options are allowed. */
interface WaitWords {
  readonly workflowId: string;
  /** What the execution is expected to do, for people: `end`, `settle`. */
  readonly awaited: string;
  /** The name of the method, for the error of an unknown option. */
  readonly method: string;
  /** Names of options that are allowed beside those of `WaitOptions`. */
  readonly otherOptions?: readonly string[];
}

/** Makes the end of a wait from its options. @throws StepfoldError `OPTION_UNKNOWN`, `OPTION_INVALID` */
export function endOfWait({ closed, setting }: RuntimeContext, options: WaitOptions, words: WaitWords): EndOfWait {
  const { workflowId, awaited, method, otherOptions = [] } = words;
  refuseUnknown(method, options, ["signal", "timeoutMs", ...otherOptions]);
  const { signal, timeoutMs } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new StepfoldError("OPTION_INVALID", { option: "signal", reason: "must be an AbortSignal" });
  const ends = signal ? [signal, closed] : [closed];
  if (timeoutMs === undefined) return { signal: ends.length === 1 ? closed : AbortSignal.any(ends), cancel: () => undefined };
  requireAtLeastOne({ timeoutMs });
  const timeout = new AbortController();
  const expire = (): void => timeout.abort(new StepfoldError("NOT_IN_TIME", { workflowId, awaited, timeoutMs }));
  const deadline = timeoutMs === Number.POSITIVE_INFINITY ? null : setting.deadlines.add(timeoutMs, expire);
  return { signal: AbortSignal.any([...ends, timeout.signal]), cancel: () => deadline?.cancel() };
}

/**
 * Runs a wait that its options can end.
 *
 * @throws StepfoldError `OPTION_UNKNOWN`, `OPTION_INVALID`, `NOT_IN_TIME`, `RUNTIME_CLOSED`; the reason of the signal
 */
export async function withEnd<T>(
  context: RuntimeContext,
  options: WaitOptions,
  words: WaitWords,
  wait: (end: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, cancel } = endOfWait(context, options, words);
  try {
    return await wait(signal);
  } finally {
    cancel();
  }
}
