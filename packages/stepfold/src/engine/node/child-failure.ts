import { safeMember } from "../../core/errors/safe-member.ts";

/** The error of a step whose detached execution did not complete. A retry of the step starts another execution. */
export class ChildFailure extends Error {
  /** By this mark, a second copy of this package in the same process recognises the error. */
  readonly "~childFailure" = true;
}

/** True for a ChildFailure, also of another copy of this package. */
export function isChildFailure(thrown: unknown): boolean {
  return safeMember(thrown, "~childFailure") === true;
}
