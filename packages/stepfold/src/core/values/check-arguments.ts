import { StepfoldError } from "../errors/stepfold-error.ts";
import { similar } from "./similar.ts";

/**
 * Refuses options that do not exist: otherwise a misspelt option would silently do nothing.
 *
 * @param of the name, for people, of what has the options: `createRuntime`
 * @param known the names of all options; the compiler refuses a list that lacks an option of `options`
 * @param elsewhere what other libraries call an option: its name here, by its name there
 * @throws StepfoldError `OPTION_UNKNOWN`, with the option that was probably meant; `OPTION_INVALID` if the options are no object
 */
export function refuseUnknown<T extends object, const K extends readonly string[]>(
  of: string,
  options: T,
  known: K & ([keyof T & string] extends [K[number]] ? unknown : readonly (keyof T & string)[]),
  elsewhere: Readonly<Record<string, K[number]>> = {},
): void {
  if (typeof options !== "object" || options === null)
    throw new StepfoldError("OPTION_INVALID", {
      option: `options of ${of}`,
      reason: `must be an object, not ${options === null ? "null" : typeof options}`,
    });
  for (const option of Object.keys(options)) {
    if (known.includes(option)) continue;
    const meant = Object.hasOwn(elsewhere, option) ? elsewhere[option] : similar(option, known);
    throw new StepfoldError("OPTION_UNKNOWN", { of, option, known, ...(meant !== undefined && { meant }) });
  }
}

/** Returns what the value of an option must be, such as `must be true or false`, if it is something else; null if it is right. */
export type OptionCheck = (value: unknown) => string | null;

/** Makes a check of what a value must be, for people: `must("be a text", ...)`. */
export const must =
  (be: string, isRight: (value: unknown) => boolean): OptionCheck =>
  (value) =>
    isRight(value) ? null : `must ${be}`;

export const aText: OptionCheck = must("be a text", (value) => typeof value === "string");
export const aFlag: OptionCheck = must("be true or false", (value) => typeof value === "boolean");
export const aCount: OptionCheck = must("be a whole number, at least 1", (value) => Number.isSafeInteger(value) && (value as number) >= 1);
/** A time in the unit that the name of the option says. It may be 0. */
export const aTime: OptionCheck = must("be a number, at least 0", (value) => Number.isFinite(value) && (value as number) >= 0);
/** How often, or how long, something is done that a timer or a database has to count: leases, polls. */
export const aPeriod: OptionCheck = must(
  "be a whole number of milliseconds, from 1 to 2,147,483,647 (24 days, the longest that a timer can wait)",
  (value) => Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= 2_147_483_647,
);
/** A delay of a message, in milliseconds; most queues cannot count a longer one. */
export const aDelay: OptionCheck = must(
  "be a whole number of milliseconds, from 0 to 43,200,000 (12 hours)",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 43_200_000,
);
/** The same in seconds. */
export const aDelayInSeconds: OptionCheck = must(
  "be a whole number of seconds, from 0 to 43,200 (12 hours)",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 43_200,
);
/** A bound that may be missing. */
export const aBound: OptionCheck = must(
  "be a whole number, at least 1, or Infinity",
  (value) => value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && (value as number) >= 1),
);
export const aList: OptionCheck = must("be a list", Array.isArray);
export const aListOfTexts: OptionCheck = must(
  "be a list of texts",
  (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
);
export const aListOfObjects: OptionCheck = must(
  "be a list of objects",
  (value) => Array.isArray(value) && value.every((one) => anObject(one) === null),
);
export const anObject: OptionCheck = must("be an object", (value) => typeof value === "object" && value !== null && !Array.isArray(value));
export const aFunction: OptionCheck = must("be a function", (value) => typeof value === "function");
/** Makes a check of values that are texts, given by all that there are. */
export const oneOf = (...texts: readonly string[]): OptionCheck =>
  must(`be ${texts.map((text) => `"${text}"`).join(" or ")}`, (value) => texts.includes(value as string));
/** For an option that is checked where it is used. */
export const anything: OptionCheck = () => null;
/** Makes a check that also lets null be, which means the same as no value. */
export const orNull =
  (check: OptionCheck): OptionCheck =>
  (value) =>
    value === null ? null : check(value);

/**
 * Makes a check of methods, which refuses for example a client that was forgotten or that belongs to another package.
 *
 * @param what what the value must be, for people: `a Pool or Client of pg`
 */
export function having(what: string, methods: readonly string[]): OptionCheck {
  return (value) => {
    if (value === undefined || value === null) return `must be ${what}, not ${value}`;
    const missing = methods.find((name) => typeof (value as Readonly<Record<string, unknown>>)[name] !== "function");
    return missing === undefined ? null : `must be ${what}: it has no method ${missing}()`;
  };
}

export const aSignal: OptionCheck = having("an AbortSignal", ["addEventListener", "removeEventListener"]);

export const aStore: OptionCheck = having('a store, such as sqliteStore("app.db")', ["create", "load", "commit", "claim"]);

export const anEnvironment: OptionCheck = having("an environment with clock, ids and timers", ["now", "monotonicMs", "newId", "after"]);

/** Refuses a value that lacks a method. @throws StepfoldError `OPTION_INVALID` */
export function requireMethods(option: string, value: unknown, what: string, methods: readonly string[]): void {
  requireOption(option, value, having(what, methods));
}

/** Refuses a value that is no store. @throws StepfoldError `OPTION_INVALID` */
export function requireStore(option: string, value: unknown): void {
  requireOption(option, value, aStore);
}

/** Refuses a wrong value of an option. @throws StepfoldError `OPTION_INVALID` */
export function requireOption(option: string, value: unknown, check: OptionCheck): void {
  const reason = check(value);
  if (reason !== null) throw new StepfoldError("OPTION_INVALID", { option, reason });
}

/**
 * Refuses options that do not exist, and wrong values of those that do. An option that is missing or undefined is checked only if it is
 * required.
 *
 * @param of the name, for people, of what has the options
 * @param checks a check for every option
 * @throws StepfoldError `OPTION_UNKNOWN`, `OPTION_INVALID`
 */
export function checkOptions<T extends object>(
  of: string,
  options: T,
  checks: { readonly [K in keyof Required<T> & string]: OptionCheck },
  required: readonly (keyof T & string)[] = [],
): void {
  refuseUnknown(of, options as object, Object.keys(checks));
  for (const [option, check] of Object.entries<OptionCheck>(checks)) {
    const value = (options as Readonly<Record<string, unknown>>)[option];
    if (value !== undefined || (required as readonly string[]).includes(option)) requireOption(option, value, check);
  }
}
