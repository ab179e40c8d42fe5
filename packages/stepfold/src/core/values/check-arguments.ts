import { StepfoldError } from "../errors/stepfold-error.ts";
import { similar } from "./similar.ts";

/**
 * Refuses options that do not exist: otherwise a misspelt option would silently do nothing.
 *
 * @param of the name, for people, of what has the options: `createRuntime`
 * @param known the names of all options; the compiler refuses a list that lacks an option of `options`
 * @throws StepfoldError `OPTION_UNKNOWN`, with the option that was probably meant; `OPTION_INVALID` if the options are no object
 */
export function refuseUnknown<T extends object, const K extends readonly string[]>(
  of: string,
  options: T,
  known: K & ([keyof T & string] extends [K[number]] ? unknown : readonly (keyof T & string)[]),
): void {
  if (typeof options !== "object" || options === null)
    throw new StepfoldError("OPTION_INVALID", {
      option: `options of ${of}`,
      reason: `must be an object, not ${options === null ? "null" : typeof options}`,
    });
  for (const option of Object.keys(options)) {
    if (known.includes(option)) continue;
    const meant = similar(option, known);
    throw new StepfoldError("OPTION_UNKNOWN", { of, option, known, ...(meant !== undefined && { meant }) });
  }
}

/**
 * Refuses a value that lacks a method, such as a client that was forgotten or that belongs to another package.
 *
 * @param what what the value must be, for people: `a Pool or Client of pg`
 * @throws StepfoldError `OPTION_INVALID`
 */
export function requireMethods(option: string, value: unknown, what: string, methods: readonly string[]): void {
  const missing = methods.find((name) => typeof (value as Readonly<Record<string, unknown>> | null | undefined)?.[name] !== "function");
  if (missing === undefined) return;
  const reason = value === undefined || value === null ? `must be ${what}, not ${value}` : `must be ${what}: it has no method ${missing}()`;
  throw new StepfoldError("OPTION_INVALID", { option, reason });
}

/** Refuses a value that is no store. @throws StepfoldError `OPTION_INVALID` */
export function requireStore(option: string, value: unknown): void {
  requireMethods(option, value, 'a store, such as sqliteStore("app.db")', ["create", "load", "commit", "claim"]);
}
