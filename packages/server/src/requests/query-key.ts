import { type JsonSchema, StepfoldError } from "stepfold";
import { exactJson } from "stepfold/core";

/** A key of a query: what its text means, and how the description of the API shows it. */
export interface QueryKey<T> {
  readonly schema: JsonSchema;
  /** For people. */
  readonly description: string;
  /** The key may stand several times in the query. */
  readonly isRepeated?: true;
  /** Reads the texts of the key, at least one. Throws a text that says what the value must be. */
  read(key: string, texts: readonly string[]): T;
}

/** The keys of a route, by their names. */
export type QueryKeys<Q> = { readonly [K in keyof Q & string]: QueryKey<Q[K]> };

/** The prefix of keys of metadata: `meta.customer=ada`. */
const metaPrefix = "meta.";
const maxMetadataKeys = 10;

/**
 * Reads a query. A key that is not known is refused, because a misspelt filter would otherwise show everything.
 *
 * @throws StepfoldError `OPTION_UNKNOWN`, `OPTION_INVALID`
 */
export function readQuery<Q>(keys: QueryKeys<Q>, search: URLSearchParams, of: string, takesMetadata = false): Partial<Q> {
  const known = Object.keys(keys);
  const found: Record<string, unknown> = {};
  for (const key of new Set(search.keys())) {
    if (takesMetadata && key.startsWith(metaPrefix)) continue;
    if (!Object.hasOwn(keys, key))
      throw new StepfoldError("OPTION_UNKNOWN", { of, option: key, known: takesMetadata ? [...known, `${metaPrefix}KEY`] : known });
    const texts = search.getAll(key);
    const one = keys[key as keyof Q & string];
    if (texts.length > 1 && !one.isRepeated) throw invalid(key, "must stand in the query once");
    found[key] = one.read(key, texts);
  }
  return found as Partial<Q>;
}

/** Reads the metadata that a query asks for: text that is JSON of a text, a number, a flag or null is taken as such, other text as it is. */
export function readMetadata(search: URLSearchParams): Readonly<Record<string, string | number | boolean | null>> | undefined {
  const keys = [...new Set(search.keys())].filter((key) => key.startsWith(metaPrefix));
  if (keys.length === 0) return undefined;
  if (keys.length > maxMetadataKeys) throw invalid(`${metaPrefix}KEY`, `must stand in the query at most ${maxMetadataKeys} times`);
  const repeated = keys.find((key) => search.getAll(key).length > 1);
  if (repeated !== undefined) throw invalid(repeated, "must stand in the query once");
  return Object.fromEntries(keys.map((key) => [key.slice(metaPrefix.length), scalarOf(search.get(key)!)]));
}

function scalarOf(given: string): string | number | boolean | null {
  try {
    const value = exactJson(given);
    return typeof value === "object" && value !== null ? given : (value as string | number | boolean | null);
  } catch {
    return given;
  }
}

/** Any text, at most this long. */
export function text(description: string, maxLength = 1_000): QueryKey<string> {
  return {
    description,
    schema: { type: "string", maxLength },
    read(key, [given]) {
      if (given!.length > maxLength) throw invalid(key, `must have at most ${maxLength} characters`);
      return given!;
    },
  };
}

/** A text that may stand several times. */
export function texts(description: string, max: number): QueryKey<readonly string[]> {
  return {
    description,
    isRepeated: true,
    schema: { type: "array", items: { type: "string" }, maxItems: max },
    read(key, given) {
      if (given.length > max) throw invalid(key, `must stand in the query at most ${max} times`);
      return given;
    },
  };
}

/** A whole number between two bounds, both included. */
export function wholeNumber(description: string, minimum: number, maximum: number): QueryKey<number> {
  return {
    description,
    schema: { type: "integer", minimum, maximum },
    read(key, [given]) {
      const value = /^-?\d{1,16}$/.test(given!) ? Number(given) : Number.NaN;
      if (!(value >= minimum && value <= maximum)) throw invalid(key, `must be a whole number from ${minimum} to ${maximum}`);
      return value;
    },
  };
}

/** One of these words. */
export function oneOf<const W extends string>(description: string, words: readonly W[]): QueryKey<W> {
  return {
    description,
    schema: { enum: [...words] },
    read(key, [given]) {
      if (!words.includes(given as W)) throw invalid(key, `must be one of ${words.join(", ")}`);
      return given as W;
    },
  };
}

/** Several of these words, with commas between them. */
export function someOf<const W extends string>(description: string, words: readonly W[]): QueryKey<readonly W[]> {
  return {
    description: `${description} Several with commas between them.`,
    schema: { type: "string", pattern: `^(${words.join("|")})(,(${words.join("|")}))*$` },
    read(key, [given]) {
      const several = given!.split(",");
      if (several.length > words.length || !several.every((one) => words.includes(one as W)))
        throw invalid(key, `must be one or several of ${words.join(", ")}, with commas between them`);
      return several as W[];
    },
  };
}

/** A time: ISO 8601 with an offset, or milliseconds since 1970. */
export function time(description: string): QueryKey<number> {
  return {
    description: `${description} ISO 8601 with an offset, or milliseconds since 1970.`,
    schema: { type: "string" },
    read(key, [given]) {
      const isIso = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(given!);
      const value = isIso ? Date.parse(given!) : /^\d{1,15}$/.test(given!) ? Number(given) : Number.NaN;
      if (Number.isNaN(value)) throw invalid(key, "must be a time in ISO 8601 with an offset, or milliseconds since 1970");
      return value;
    },
  };
}

function invalid(key: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option: key, reason });
}
