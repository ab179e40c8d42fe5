import { safeMember } from "../../core/errors/safe-member.ts";

/**
 * The error of a step whose detached execution did not complete, or whose signal could not arrive. A retry of the step starts another
 * execution, or sends the signal again.
 */
export class ChildFailure extends Error {
  /** By this mark, a second copy of this package in the same process recognises the error. */
  readonly "~childFailure" = true;
}

/** True for a ChildFailure, also of another copy of this package. */
export function isChildFailure(thrown: unknown): boolean {
  return safeMember(thrown, "~childFailure") === true;
}
