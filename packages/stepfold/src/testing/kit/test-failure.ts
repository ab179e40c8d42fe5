/** Why a test of a workflow fails. */
export type TestFailureReason =
  /** A mock was not used, or an answer of its list. */
  | "MOCK_UNUSED"
  /** A step was performed of which there is neither code nor a mock. */
  | "MOCK_MISSING"
  /** A step was performed more often than the list of its mock has answers. */
  | "MOCK_EXHAUSTED"
  /** The code of a workflow asks for other steps when it is run again. */
  | "CODE_NOT_REPEATABLE"
  /** What the test did differs from its golden file. */
  | "GOLDEN_DIFFERS"
  /** A golden file cannot be read, or the execution in it can no longer be opened. */
  | "GOLDEN_INVALID"
  /** The runtime has reported a problem. */
  | "PROBLEM";

/** Thrown by the testing kit when a test has found a mistake. */
export class TestFailure extends Error {
  override readonly name: string = "TestFailure";
  readonly reason: TestFailureReason;

  constructor(reason: TestFailureReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
