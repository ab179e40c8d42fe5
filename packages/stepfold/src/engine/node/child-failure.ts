import { safeMember } from "../../core/errors/safe-member.ts";

/** A step failed because the execution that it waited for did not complete. A retry of the step starts another execution. */
export class ChildFailure extends Error {
  /** Recognises errors of a second copy of this package in the same process. */
  readonly "~childFailure" = true;
}

/** True for a ChildFailure, of whichever copy of this package. */
export function isChildFailure(thrown: unknown): boolean {
  return safeMember(thrown, "~childFailure") === true;
}
