/** A violation of a rule, with its location. */
export interface Violation {
  readonly rule: string;
  readonly path: string;
  readonly line?: number;
  readonly message: string;
}

/** Formats a violation: `packages/stepfold/src/core/apply.ts:12  [imports] core may not import engine`. */
export function describeViolation({ rule, path, line, message }: Violation): string {
  return `${path}${line === undefined ? "" : `:${line}`}  [${rule}] ${message}`;
}
