import { errorInfo, stackOf } from "../core/errors/error-info.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import type { Outcome } from "./attempt/outcome.ts";
import type { TaskInfo } from "./plugin.ts";

/** Where failures are told: `console` is one, and most loggers are. If it throws, no execution changes. */
export interface Logger {
  info(message: string, details?: object): unknown;
  warn(message: string, details?: object): unknown;
  error(message: string, details?: object): unknown;
}

/** Tells a logger what happens here. No text holds secrets of `globals` or characters that steer a terminal. */
export interface Log {
  /** An attempt failed: `warn` if it is made again, else `error`. With the stack of the code that threw it. */
  failed(thrown: unknown, task: TaskInfo, outcome: Extract<Outcome, { type: "failed" }>): void;
  /** Background work failed. */
  problem(workflowId: string | null, error: unknown): void;
  /** What this process does. */
  note(message: string, details: object): void;
  /** Something is probably not as meant. */
  doubt(message: string, details: object): void;
}

/** @throws StepfoldError `OPTION_INVALID` */
export function requireLogger(logger: Logger): void {
  for (const level of ["info", "warn", "error"] as const) {
    if (typeof logger?.[level] === "function") continue;
    throw new StepfoldError("OPTION_INVALID", {
      option: "logger",
      reason: `has no function "${level}": pass console, or what has info, warn and error`,
    });
  }
}

/** @param scrub takes secrets out of a text */
export function logTo(logger: Logger, scrub: (text: string) => string): Log {
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
      const again = retryAt === null ? "" : "; it is tried again";
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
    note: (message, details) => tell("info", message, details),
    doubt: (message, details) => tell("warn", message, details),
  };
}

/** Control characters and marks of direction as text: a terminal would obey them. Lines and tabs stay. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (sign) => (sign === "\n" || sign === "\t" ? sign : `\\u{${sign.codePointAt(0)!.toString(16)}}`));
}
