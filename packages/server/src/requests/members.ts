import { type JsonSchema, StepfoldError } from "stepfold";

/** A member of a body: how the description of the API shows it, and what a value must be. */
export interface Member {
  readonly schema: JsonSchema;
  readonly isRequired?: true;
  /** Returns what the value must be, such as `must be text`, if it is something else. */
  check(value: unknown): string | null;
}

/** The members of a body of this type, all of them. */
export type Members<B> = { readonly [K in keyof Required<B> & string]: Member };

/** Text, at most this long. */
export function textMember(description: string, maxLength = 1_000): Member {
  return {
    schema: { type: "string", maxLength, description },
    check: (value) => (typeof value === "string" && value.length <= maxLength ? null : `must be text of at most ${maxLength} characters`),
  };
}

/** A whole number, at least 0. */
export function countMember(description: string): Member {
  return {
    schema: { type: "integer", minimum: 0, description },
    check: (value) => (Number.isSafeInteger(value) && (value as number) >= 0 ? null : "must be a whole number, at least 0"),
  };
}

/** One of these words. */
export function wordMember(description: string, words: readonly string[]): Member {
  return {
    schema: { enum: [...words], description },
    check: (value) => (words.includes(value as string) ? null : `must be one of ${words.join(", ")}`),
  };
}

/** A duration or a time, as text or in milliseconds. */
export function timeMember(description: string): Member {
  return {
    schema: { type: ["string", "number"], description },
    check: (value) => (typeof value === "string" || typeof value === "number" ? null : "must be text or a number"),
  };
}

/** An object. */
export function objectMember(description: string): Member {
  return {
    schema: { type: "object", description },
    check: (value) => (isObject(value) ? null : "must be an object"),
  };
}

/** Any JSON. The engine checks it by the schemas of the workflow. */
export function anyMember(description: string): Member {
  return { schema: { description }, check: () => null };
}

/** The same member, which must not be missing. */
export function required(member: Member): Member {
  return { ...member, isRequired: true };
}

/**
 * Checks a body. A member that is not known is refused, because a misspelt one would otherwise do nothing.
 *
 * @throws StepfoldError `OPTION_UNKNOWN`, `OPTION_INVALID`
 */
export function readMembers<B>(members: Members<B>, body: Readonly<Record<string, unknown>>, of: string): B {
  const table: Readonly<Record<string, Member>> = members;
  const known = Object.keys(table);
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    if (!Object.hasOwn(table, name)) throw new StepfoldError("OPTION_UNKNOWN", { of, option: name, known });
    const reason = table[name]!.check(value);
    if (reason !== null) throw new StepfoldError("OPTION_INVALID", { option: name, reason });
    found[name] = value;
  }
  const missing = known.find((name) => table[name]!.isRequired && !Object.hasOwn(found, name));
  if (missing !== undefined) throw new StepfoldError("OPTION_INVALID", { option: missing, reason: "is missing in the body" });
  return found as B;
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
