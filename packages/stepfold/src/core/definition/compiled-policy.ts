import { StepfoldError } from "../errors/stepfold-error.ts";
import type { Duration } from "../values/duration.ts";
import { durationMs } from "../values/duration.ts";
import { isJsonObject } from "../values/json.ts";
import type { RetryPolicy } from "./definition.ts";
import type { DefinitionReport } from "./definition-report.ts";
import type { RetryRule } from "./retry.ts";
import type { CompileTemplate, Scope, Template } from "./template.ts";

/** A number, or the template of an expression that gives a number. */
export type Computed = number | Template;

/** A retry policy whose durations are parsed and whose expressions are compiled. */
export interface CompiledPolicy {
  readonly maxAttempts: Computed;
  readonly intervalMs: Computed;
  /** Null: the delay has no upper bound. */
  readonly maxIntervalMs: Computed | null;
  readonly backoff: "fixed" | "exponential";
  readonly jitter: number;
  /** Null: every failure is retried that can be retried at all (a `FatalError` cannot). */
  readonly retryIf: Template | null;
}

/** What an error says of a setting whose expression is undefined. A missing field must not silently remove what the setting limits. */
export const undefinedSetting = 'must not be undefined: correct its expression, or write a default, as in {{ input.within ?? "7 days" }}';

/** Compiles a retry policy. Returns null if it has an error; errors and warnings are reported, with pointers below `pointer`. */
export function compilePolicy(
  policy: RetryPolicy,
  pointer: string,
  compileTemplate: CompileTemplate,
  report: DefinitionReport,
): CompiledPolicy | null {
  const before = report.errorCount;
  const wrong = (key: string, message: string): null => {
    report.add("RETRY_INVALID", `${pointer}/${key}`, message);
    return null;
  };
  if (!isJsonObject(policy)) return wrong("", "must be an object with maxAttempts, interval and backoff");
  const { backoff, jitter = 0, retryIf } = policy;
  if (backoff !== "fixed" && backoff !== "exponential") wrong("backoff", 'must be "fixed" or "exponential"');
  if (typeof jitter !== "number" || !(jitter >= 0 && jitter <= 1)) wrong("jitter", "must be a number from 0 to 1");
  if (retryIf !== undefined && typeof retryIf !== "string") wrong("retryIf", "must be an expression");
  const compiled = {
    maxAttempts: compileNumber(policy.maxAttempts, `${pointer}/maxAttempts`, compileTemplate, report, attempts),
    intervalMs: compileNumber(policy.interval, `${pointer}/interval`, compileTemplate, report, durationMs),
    maxIntervalMs:
      policy.maxInterval === undefined
        ? null
        : compileNumber(policy.maxInterval, `${pointer}/maxInterval`, compileTemplate, report, durationMs),
    backoff,
    jitter,
    retryIf: typeof retryIf === "string" ? compileCondition(retryIf, `${pointer}/retryIf`, compileTemplate, report) : null,
  };
  return report.errorCount > before ? null : (compiled as CompiledPolicy);
}

/** Compiles a duration, or an expression that gives one. A mistake is reported; the result is then null. */
export function compileDuration(
  value: Duration,
  pointer: string,
  compileTemplate: CompileTemplate,
  report: DefinitionReport,
): Computed | null {
  return compileNumber(value, pointer, compileTemplate, report, durationMs);
}

/**
 * Evaluates the numbers of a policy for one failed attempt.
 *
 * @throws StepfoldError `RETRY_POLICY_INVALID` if a field does not give a usable number; no number is ever NaN
 */
export function evaluatePolicy(policy: CompiledPolicy, scope: Scope, nodeId: string): RetryRule {
  const field = (
    name: "maxAttempts" | "interval" | "maxInterval",
    computed: Computed,
    read: (value: number | string) => number,
  ): number => {
    try {
      return typeof computed === "number" ? computed : evaluateNumber(computed, scope, read, (reason) => new Error(reason));
    } catch (error) {
      throw new StepfoldError("RETRY_POLICY_INVALID", { nodeId, field: name, reason: (error as Error).message }, { cause: error });
    }
  };
  const rule = {
    maxAttempts: field("maxAttempts", policy.maxAttempts, attempts),
    intervalMs: field("interval", policy.intervalMs, durationMs),
    backoff: policy.backoff,
    jitter: policy.jitter,
  };
  return policy.maxIntervalMs === null ? rule : { ...rule, maxIntervalMs: field("maxInterval", policy.maxIntervalMs, durationMs) };
}

/**
 * Returns a duration in milliseconds; evaluates its expression if it has one.
 *
 * @param missing makes the error if the expression is undefined
 * @throws StepfoldError `DURATION_INVALID`, or what the expression throws
 */
export function evaluateDuration(computed: Computed, scope: Scope, missing: (reason: string) => Error): number {
  return typeof computed === "number" ? computed : evaluateNumber(computed, scope, durationMs, missing);
}

function evaluateNumber(
  template: Template,
  scope: Scope,
  read: (value: number | string) => number,
  missing: (reason: string) => Error,
): number {
  const blanks: string[] = [];
  const value = template.evaluate(scope, undefined, blanks);
  if (value === undefined || blanks.length > 0) throw missing(undefinedSetting);
  return read(value as number | string);
}

function attempts(value: number | string): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number) && number >= 1) return number;
  throw new StepfoldError("OPTION_INVALID", {
    option: "maxAttempts",
    reason: `must be a whole number of at least 1, not ${JSON.stringify(value) ?? typeof value}`,
  });
}

function compileNumber(
  value: number | string,
  pointer: string,
  compileTemplate: CompileTemplate,
  report: DefinitionReport,
  read: (value: number | string) => number,
): Computed | null {
  try {
    if (typeof value === "string") {
      const { template, issues: found } = compileTemplate(value, pointer);
      report.addAll(found);
      if (template || found.length > 0) return template;
    }
    return read(value);
  } catch (error) {
    const code = read === durationMs ? "DURATION_INVALID" : "RETRY_INVALID";
    report.add(code, pointer, value === undefined ? "is missing" : (error as Error).message);
    return null;
  }
}

/** Compiles a condition: an expression with or without `{{ }}` around it. Mistakes are reported; the result is then null. */
export function compileCondition(
  source: string,
  pointer: string,
  compileTemplate: CompileTemplate,
  report: DefinitionReport,
): Template | null {
  const { template, issues: found } = compileTemplate(source.includes("{{") ? source : `{{ ${source} }}`, pointer);
  report.addAll(found);
  if (template?.texts?.includes(pointer)) warnOfText(pointer, report);
  return template;
}

/** Warns about a condition that has text beside its expression: its value is a text, which always counts as true. */
export function warnOfText(pointer: string, report: DefinitionReport): void {
  const message = "is text with an expression in it, which is always true: write the whole comparison inside the braces";
  report.warn("CONDITION_CONSTANT", pointer, message);
}
