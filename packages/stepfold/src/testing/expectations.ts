import type { ErrorCode, ErrorDetails } from "../core/errors/error-details.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";

/** Thrown by a contract case whose promise is broken. */
export class ContractViolation extends Error {
  override readonly name: string = "ContractViolation";
}

/** Fails unless both are the same JSON value. The order of keys does not count; -0 is not 0, and undefined is not a missing member. */
export function equal(actual: unknown, expected: unknown, what = "value"): void {
  const difference = differenceOf(actual, expected, what);
  if (difference) throw new ContractViolation(difference);
}

/** Fails unless `condition` holds. */
export function holds(condition: boolean, message: string): void {
  if (!condition) throw new ContractViolation(message);
}

/** Returns `value` if it is neither null nor undefined, else fails. */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new ContractViolation(`${what} is ${value}`);
  return value;
}

/** Fails unless `work` rejects with this code. Returns the details of the error. */
export async function rejectsWith<C extends ErrorCode>(code: C, work: () => Promise<unknown>): Promise<ErrorDetails<C>> {
  let got: string;
  try {
    await work();
    got = "resolved";
  } catch (error) {
    if (StepfoldError.is(error, code)) return error.details;
    got = `rejected with ${StepfoldError.is(error) ? error.code : String(error)}`;
  }
  throw new ContractViolation(`expected a rejection with ${code}; it ${got}`);
}

function differenceOf(actual: unknown, expected: unknown, path: string): string | null {
  if (Object.is(actual, expected)) return null;
  if (!isObject(actual) || !isObject(expected) || Array.isArray(actual) !== Array.isArray(expected)) {
    return `${path} is ${show(actual)}, expected ${show(expected)}`;
  }
  for (const key of new Set([...Object.keys(actual), ...Object.keys(expected)])) {
    const at = `${path}/${key}`;
    if (!Object.hasOwn(actual, key)) return `${at} is missing, expected ${show(expected[key])}`;
    if (!Object.hasOwn(expected, key)) return `${at} is ${show(actual[key])}, expected to be absent`;
    const difference = differenceOf(actual[key], expected[key], at);
    if (difference) return difference;
  }
  return null;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
