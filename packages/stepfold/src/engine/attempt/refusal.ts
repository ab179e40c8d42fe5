import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import { type Json, sizeOfJson } from "../../core/values/json.ts";
import type { AttemptState } from "./attempt-state.ts";
import type { Outcome } from "./outcome.ts";

/** The most issues of a refusal that are kept: the head of the execution contains them while the wait is open. */
const maxIssues = 20;
const maxPointerLength = 200;
const maxMessageLength = 500;

/** The outcome of a step whose code refused the payload that the step was resumed with: its waits open again. */
export function refusalOutcome({ context, startedAt }: AttemptState, given: readonly SchemaIssue[]): Outcome {
  const issues = Object.freeze(
    given.slice(0, maxIssues).map(({ pointer, message }) =>
      Object.freeze({
        pointer: whole(pointer.slice(0, maxPointerLength)),
        message: whole(context.scrub(message).slice(0, maxMessageLength)) || "is refused",
      }),
    ),
  );
  return { type: "refused", issues, sizeBytes: sizeOfJson(issues as unknown as Json), startedAt, endedAt: context.now() };
}

/** Replaces half of a surrogate pair, which a cut may have left. */
function whole(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}
