import { StepfoldError } from "stepfold";
import { publicUrl } from "stepfold/stores/from-url";
import { BadInput } from "./bad-input.ts";
import { shellQuote } from "./execution/shell-quote.ts";
import { exitCode } from "./exit-code.ts";
import { isUnknownType } from "./json/workflow-issues.ts";
import { complain, say } from "./output.ts";
import { paintFor } from "./text/paint.ts";

/** A failure of a command, as it is printed. */
interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly details: unknown;
  /** The exit code. */
  readonly exit: number;
}

/** What the user can do about an error, by its code. ` ID ` stands for the id of the execution. */
const hints: Readonly<Partial<Record<string, string>>> = {
  WORKFLOW_NOT_FOUND: "stepfold ls lists the executions there are. Another database is named with --store",
  SCHEDULE_NOT_FOUND: "stepfold schedule ls lists the schedules there are. Another database is named with --store",
  SCHEDULE_EXISTS: "stepfold schedule show NAME tells what it says",
  SCHEDULE_DENIED: "stepfold schedule --help lists what can be done with schedules",
  EXECUTION_ENDED: "stepfold show ID tells how it ended; stepfold run FILE starts another execution",
  RESUME_CONFLICT: "Another answer needs another --idempotency-key; stepfold show ID tells what it waits for now",
  METADATA_CONFLICT: "Another change needs another --idempotency-key; stepfold show ID --json tells what the metadata is now",
  WAIT_EXPIRED: "stepfold show ID tells what happened instead; stepfold resume ID drives it on",
  START_AMBIGUOUS: 'Set "start" in the workflow to the id of its first node',
  INPUT_INVALID: "Give another --input",
  STORE_UNAVAILABLE: "What was committed is safe. Give the same command again",
  STORE_REJECTED: "What was committed is safe",
};

/** Codes of errors of a store, a queue, or the connection to one. For these, the input of the command is not at fault. */
const serverFailures: readonly string[] = [
  ...["STORE_UNAVAILABLE", "OUTCOME_UNKNOWN", "STORE_REJECTED", "FENCE_LOST"],
  ...["QUEUE_UNAVAILABLE", "QUEUE_REJECTED"],
];

/** Makes a failure of anything that was thrown. */
function failureOf(error: unknown): Failure {
  if (error instanceof BadInput) {
    const { code, message, hint, details } = error;
    return { code, message, hint, details, exit: exitCode.badInput };
  }
  if (StepfoldError.is(error)) {
    const { code, message, details } = error;
    return {
      code,
      message,
      hint: hintFor(error),
      details,
      exit: serverFailures.includes(code) ? exitCode.failed : exitCode.badInput,
    };
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return {
    code: "INTERNAL",
    message,
    hint: "This is a bug of Stepfold. STEPFOLD_DEBUG=1 shows where",
    details: null,
    exit: exitCode.failed,
  };
}

/** Returns the hint for an error. It contains the id of the execution, so that its command can be copied. */
function hintFor(error: StepfoldError): string | null {
  const { code, details } = error;
  if (StepfoldError.is(error, "DEFINITION_INVALID") && error.details.issues.some(isUnknownType))
    return "Node types of your own come from stepfold.config.ts; name it with --config";
  const id = "workflowId" in details && typeof details.workflowId === "string" ? shellQuote(details.workflowId) : "ID";
  // a function, because in a text `$` would have a meaning, and ids may contain it
  return hints[code]?.replaceAll(" ID ", () => ` ${id} `) ?? null;
}

/** Prints a failure on standard error, and with `--json` also on standard output. @returns the exit code */
export function reportFailure(error: unknown, json: boolean): number {
  const { code, message, hint, details, exit } = failureOf(error);
  const paint = paintFor(process.stderr);
  if (json) {
    const told = { code, message, ...(hint === null ? {} : { hint }), ...(details === null || details === undefined ? {} : { details }) };
    say(`${withoutPasswords(JSON.stringify({ type: "error", error: told }))}\n`);
  }
  complain(`${paint("bad", "error")} ${code}: ${safe(message)}\n${hint === null ? "" : `${safe(hint)}\n`}`);
  if (process.env.STEPFOLD_DEBUG)
    for (let one: unknown = error; one instanceof Error; one = one.cause) complain(`${safe(String(one.stack))}\n`);
  return exit;
}

/** Removes the passwords of URLs, which a message may quote: an argument in the wrong place, or an option that was mistyped. */
function withoutPasswords(text: string): string {
  return text.replace(/[a-z][a-z0-9+.-]*:\/\/[^\s"']*@[^\s"']*/gi, publicUrl);
}

/**
 * Removes passwords of URLs and replaces control characters, because messages may quote text from outside. Line breaks stay: some messages have
 * several lines.
 */
function safe(text: string): string {
  return withoutPasswords(text).replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, "\uFFFD");
}
