/** A broken rule, with the place. */
export interface Violation {
  readonly rule: string;
  readonly path: string;
  readonly line?: number;
  readonly message: string;
}

/** `packages/stepfold/src/core/apply.ts:12  [imports] core may not import engine` */
export function describeViolation({ rule, path, line, message }: Violation): string {
  return `${path}${line === undefined ? "" : `:${line}`}  [${rule}] ${message}`;
}
