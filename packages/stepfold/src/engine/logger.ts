import { errorInfo, stackOf } from "../core/errors/error-info.ts";
import { having, type OptionCheck, orNull } from "../core/values/check-arguments.ts";
import type { Outcome } from "./attempt/outcome.ts";
import type { TaskInfo } from "./plugin.ts";
import type { Scrub } from "./secrets/scrubber.ts";

/**
 * Receives messages about failures and about what this process does. `console` fits, and so do most loggers. An error of the logger does
 * not change any execution.
 */
export interface Logger {
  info(message: string, details?: object): unknown;
  warn(message: string, details?: object): unknown;
  error(message: string, details?: object): unknown;
}

/** Writes messages to a logger. Their texts contain no secrets of `globals` and no characters that control a terminal. */
export interface Log {
  /** Reports a failed attempt, with the stack of the code that threw: as `warn` if there is another attempt, else as `error`. */
  failed(thrown: unknown, task: TaskInfo, outcome: Extract<Outcome, { type: "failed" }>): void;
  /** Reports that background work failed. `workflowId` is null if the work does not belong to one execution. */
  problem(workflowId: string | null, error: unknown): void;
  /** Reports what this process does, as `info`. */
  info(message: string, details: object): void;
  /** Warns of something that is probably a mistake. */
  warn(message: string, details: object): void;
}

/** The check of the option `logger`. */
export const aLogger: OptionCheck = orNull(having("a logger, such as console, with info, warn and error", ["info", "warn", "error"]));

/** Creates a log that writes to a logger. @param scrub removes secrets from a text */
export function logTo(logger: Logger, scrub: Scrub): Log {
  const clean = (text: string): string => printable(scrub(text));
  const tell = (level: keyof Logger, message: string, details: object): void => {
    try {
      const told = logger[level](clean(message), details);
      if (told instanceof Promise) told.catch(() => undefined);
    } catch {
      // a failing logger must not change the execution
    }
  };
  const withStack = (thrown: unknown): object => {
    const stack = stackOf(thrown, scrub);
    return stack === undefined ? {} : { stack: printable(stack) };
  };
  return {
    failed(thrown, { workflowId, nodeId, type, pathId, scope, attempt }, { error, retryAt }) {
      const { message, code, name } = error;
      const place = { workflowId, nodeId, type, pathId, ...(scope !== undefined && { scope }), attempt };
      const details = {
        ...place,
        name,
        ...(code !== undefined && { code: clean(code) }),
        ...(retryAt !== null && { retryAt }),
        ...withStack(thrown),
      };
      const again = retryAt === null ? "" : "; another attempt follows";
      tell(
        retryAt === null ? "error" : "warn",
        `Node "${nodeId}" of execution "${workflowId}" failed in attempt ${attempt}: ${message}${again}`,
        details,
      );
    },
    problem(workflowId, error) {
      const { message, code } = errorInfo(error, undefined, scrub);
      const details = { ...(workflowId !== null && { workflowId }), ...(code !== undefined && { code: clean(code) }), ...withStack(error) };
      tell("error", workflowId === null ? message : `Execution "${workflowId}": ${message}`, details);
    },
    info: (message, details) => tell("info", message, details),
    warn: (message, details) => tell("warn", message, details),
  };
}

/** Writes control characters and direction marks as escapes, because a terminal would obey them. Line breaks and tabs stay. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (sign) => (sign === "\n" || sign === "\t" ? sign : `\\u{${sign.codePointAt(0)!.toString(16)}}`));
}
