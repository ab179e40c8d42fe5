import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import { type Json, sizeOfJson } from "../../core/values/json.ts";
import type { AttemptState } from "./attempt-state.ts";
import type { Outcome } from "./outcome.ts";

/** What is kept of a refusal: it lies in the head while the wait is open. */
const maxIssues = 20;
const maxPointerLength = 200;
const maxMessageLength = 500;

/** The outcome of a step whose code has refused the payload that it was resumed with: what it waited for opens again. */
export function refusalOutcome({ around, startedAt }: AttemptState, given: readonly SchemaIssue[]): Outcome {
  const issues = Object.freeze(
    given.slice(0, maxIssues).map(({ pointer, message }) =>
      Object.freeze({
        pointer: whole(pointer.slice(0, maxPointerLength)),
        message: whole(around.scrub(message).slice(0, maxMessageLength)) || "is refused",
      }),
    ),
  );
  return { type: "refused", issues, sizeBytes: sizeOfJson(issues as unknown as Json), startedAt, endedAt: around.now() };
}

/** A cut may have left half a character. */
function whole(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}
