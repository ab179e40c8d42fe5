import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { aListOfTexts, requireOption } from "../../core/values/check-arguments.ts";
import { isSearched } from "./is-searched.ts";
import { minSecretLength, secretName, secretsIn } from "./secret-text.ts";

/** The most members of `globals` that are looked at, the most secrets, and their most characters. */
const maxValues = 100_000;
const maxSecrets = 10_000;
const maxCharacters = 4_000_000;

/** What a walk through `globals` has found. */
class Collected {
  readonly secrets = new Set<string>();
  #values = 0;
  #characters = 0;

  /** Counts a value. @throws StepfoldError `OPTION_INVALID` if there are too many */
  see(): void {
    if (++this.#values > maxValues) throw tooMuch(`${maxValues} values`);
  }

  /** @throws StepfoldError `OPTION_INVALID` if there are too many, or they are too long */
  add(secret: string): void {
    if (this.secrets.has(secret)) return;
    this.secrets.add(secret);
    this.#characters += secret.length;
    if (this.secrets.size > maxSecrets) throw tooMuch(`${maxSecrets} texts that are secrets or look like it`);
    if (this.#characters > maxCharacters) throw tooMuch(`${maxCharacters} characters of secrets`);
  }
}

function tooMuch(what: string): StepfoldError {
  const reason = `holds more than ${what}, so its secrets could not be removed from messages. Keep large data in an object of a class, or behind a function: these are not searched`;
  return new StepfoldError("OPTION_INVALID", { option: "globals", reason });
}

/**
 * Returns the secrets that `globals` holds: texts under a name that tells, texts that look like secrets, and those that are listed. Getters are
 * not called, and neither functions nor objects of classes are entered.
 *
 * @param listed paths of further secrets, such as `mail.password`
 * @throws StepfoldError `OPTION_INVALID` if a path leads to no text that can be removed, or there is too much to search
 */
export function collectSecrets(globals: unknown, listed: readonly string[] = []): ReadonlySet<string> {
  const found = new Collected();
  collect(globals, false, found, new Set());
  requireOption("secrets", listed, aListOfTexts);
  for (const path of listed) collectListed(valueAt(globals, path), path, found, new Set());
  return found.secrets;
}

/** @param named true if the value lies under a name that tells */
function collect(value: unknown, named: boolean, found: Collected, seen: Set<object>): void {
  if (typeof value === "string") {
    if (named && value.length >= minSecretLength) found.add(value);
    for (const secret of secretsIn(value)) found.add(secret);
    return;
  }
  if (typeof value !== "object" || value === null || seen.has(value) || !isSearched(value)) return;
  seen.add(value);
  for (const [key, { value: member }] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    found.see();
    collect(member, named || secretName.test(key), found, seen);
  }
}

/** Returns what a path leads to. @throws StepfoldError `OPTION_INVALID` */
function valueAt(globals: unknown, path: string): unknown {
  let value = globals;
  for (const name of path.split(".")) {
    if (typeof value === "object" && value !== null && !isSearched(value))
      throw refused(path, "leads into an object of a class, which is not searched");
    const member = typeof value === "object" && value !== null ? Object.getOwnPropertyDescriptor(value, name) : undefined;
    if (!member) throw refused(path, "is not in globals");
    if (!("value" in member)) throw refused(path, "is a getter, which is not called");
    value = member.value;
  }
  return value;
}

/** Adds a listed text, or all texts in a listed object. @throws StepfoldError `OPTION_INVALID` */
function collectListed(value: unknown, path: string, found: Collected, seen: Set<object>): void {
  if (typeof value === "string") {
    if (value.length < minSecretLength)
      throw refused(path, `has fewer than ${minSecretLength} characters: such a text occurs by chance, so it is never removed`);
    found.add(value);
    for (const secret of secretsIn(value)) found.add(secret);
    return;
  }
  if (typeof value !== "object" || value === null || !isSearched(value))
    throw refused(path, "must be a text, or a plain object or a list with texts");
  seen.add(value);
  for (const [key, { value: member }] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    const isText = typeof member === "string" && member !== "";
    const isInside = typeof member === "object" && member !== null && isSearched(member) && !seen.has(member);
    if (isText || isInside) collectListed(member, `${path}.${key}`, found, seen);
  }
}

function refused(path: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option: "secrets", reason: `"${path}" ${reason}` });
}
