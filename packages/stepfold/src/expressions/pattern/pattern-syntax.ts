/** A part of a parsed pattern. */
export type PatternPart =
  | { readonly kind: "letter"; readonly fits: (codePoint: number) => boolean }
  | { readonly kind: "edge"; readonly edge: Boundary }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly PatternPart[] }
  | { readonly kind: "group"; readonly part: PatternPart; readonly index: number }
  | { readonly kind: "repeat"; readonly part: PatternPart; readonly min: number; readonly max: number; readonly isLazy: boolean }
  | { readonly kind: "look"; readonly part: PatternPart; readonly isAhead: boolean; readonly isNegated: boolean };

/**
 * A place between two letters: the begin or end of the text or of a line,
 * the edge of a word (`\b`), or any other place (`\B`, "inside").
 */
export type Boundary = "begin" | "end" | "lineBegin" | "lineEnd" | "word" | "inside";

/** A parsed pattern, or why it cannot be used. `mistake` continues a sentence such as "this regular expression ...". */
export type ParsedPattern = ReadPattern | { readonly mistake: string };

/** A parsed pattern. */
export interface ReadPattern {
  readonly part: PatternPart;
  /** The names of the groups in their order; undefined for a group without a name. */
  readonly groups: readonly (string | undefined)[];
}

/** The largest number of letters in a pattern. */
const maxLength = 10_000;
/** The largest number of classes of Unicode in a pattern: the platform takes up to 0.4 ms to make the set of one. */
const maxClasses = 200;
/** How deep groups may be nested. */
const maxDepth = 100;

/**
 * Parses a regular expression as JavaScript does with the flag `u`. It refuses flags inside the pattern, and back references, which
 * cannot be matched in linear time.
 *
 * @param flags any of `i`, `m` and `s`
 */
export function parsePattern(source: string, flags = ""): ParsedPattern {
  const mistake = boundsMistake(source);
  if (mistake !== undefined) return { mistake };
  try {
    // The platform checks the grammar, so `PatternReader` need not find mistakes in it.
    new RegExp(source, "u");
  } catch (error) {
    return { mistake: `is no pattern: ${(error as Error).message}` };
  }
  const reader = new PatternReader(source, flags);
  const part = reader.choice(0);
  return reader.mistake === null ? { part, groups: reader.groups } : { mistake: reader.mistake };
}

/** Returns why a pattern must not even be handed to the platform, which would take long; undefined if it may. */
export function boundsMistake(source: string): string | undefined {
  if (source.length > maxLength) return `is a pattern of ${source.length} letters; at most ${maxLength} are allowed`;
  const classes = unicodeClassesIn(source);
  return classes > maxClasses ? `has ${classes} classes such as \\p{L}; at most ${maxClasses} are allowed` : undefined;
}

/** The number of classes of Unicode in a pattern, such as `\p{L}`. */
export function unicodeClassesIn(source: string): number {
  return source.match(/\\p\{/gi)?.length ?? 0;
}

class PatternReader {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;
  readonly groups: (string | undefined)[] = [];
  mistake: string | null = null;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
  }

  choice(depth: number): PatternPart {
    if (depth > maxDepth) this.#refuse(`nests groups deeper than ${maxDepth} levels`);
    const parts = [this.#sequence(depth)];
    while (this.#take("|")) parts.push(this.#sequence(depth));
    return parts.length === 1 ? parts[0]! : { kind: "choice", parts };
  }

  #sequence(depth: number): PatternPart {
    const parts: PatternPart[] = [];
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at]!)) parts.push(this.#repeated(this.#atom(depth)));
    return parts.length === 1 ? parts[0]! : { kind: "sequence", parts };
  }

  #repeated(part: PatternPart): PatternPart {
    const quantifier = this.#quantifier();
    if (!quantifier) return part;
    const [min, max] = quantifier;
    const isLazy = this.#take("?");
    return min === 1 && max === 1 ? part : { kind: "repeat", part, min, max, isLazy };
  }

  /** Returns how often the part before it is repeated at least and at most; null if there is no quantifier. */
  #quantifier(): readonly [number, number] | null {
    if (this.#take("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#take("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#take("?")) return [0, 1];
    const counted = this.#match(/\{(\d+)(,?)(\d*)\}/y);
    if (!counted) return null;
    const min = Number(counted[1]);
    return [min, counted[2] === "" ? min : counted[3] === "" ? Number.POSITIVE_INFINITY : Number(counted[3])];
  }

  #atom(depth: number): PatternPart {
    const isByLine = this.#flags.includes("m");
    if (this.#take("^")) return { kind: "edge", edge: isByLine ? "lineBegin" : "begin" };
    if (this.#take("$")) return { kind: "edge", edge: isByLine ? "lineEnd" : "end" };
    if (this.#take("\\b")) return { kind: "edge", edge: "word" };
    if (this.#take("\\B")) return { kind: "edge", edge: "inside" };
    if (this.#match(/\\(?:[1-9]|k)/y)) return this.#refuse("refers back to a group, which cannot be matched in linear time");
    if (this.#take("(")) return this.#group(depth);
    const set = this.#match(
      /\[(?:\\.|[^\]\\])*\]|\\(?:[pP]|u(?=\{))\{[^}]*\}|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c.|\\.|\./suy,
    );
    if (set) return { kind: "letter", fits: fitsSet(set[0], this.#flags) };
    const codePoint = this.#source.codePointAt(this.#at)!;
    this.#at += codePoint > 0xffff ? 2 : 1;
    if (this.#flags.includes("i")) return { kind: "letter", fits: fitsSet(`\\u{${codePoint.toString(16)}}`, this.#flags) };
    return { kind: "letter", fits: (other) => other === codePoint };
  }

  #group(depth: number): PatternPart {
    const isAhead = this.#match(/\?[=!]/y);
    const look = isAhead ?? this.#match(/\?<[=!]/y);
    const isOpen = !look && !this.#take("?:");
    const name = isOpen ? this.#match(/\?<([^>]*)>/y) : null;
    if (isOpen && !name && this.#source[this.#at] === "?") return this.#refuse("sets flags inside the pattern");
    const index = isOpen ? this.groups.push(name?.[1]) : 0;
    const part = this.choice(depth + 1);
    this.#take(")");
    if (look) return { kind: "look", part, isAhead: isAhead !== null, isNegated: look[0].endsWith("!") };
    return isOpen ? { kind: "group", part, index } : part;
  }

  #take(text: string): boolean {
    const found = this.#source.startsWith(text, this.#at);
    if (found) this.#at += text.length;
    return found;
  }

  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#source);
    if (found) this.#at += found[0].length;
    return found;
  }

  #refuse(reason: string): PatternPart {
    this.mistake ??= reason;
    this.#at = this.#source.length;
    return { kind: "sequence", parts: [] };
  }
}

/** Returns a test for single letters. It is a regular expression of the platform, so every escape has the same meaning as there. */
function fitsSet(source: string, flags: string): (codePoint: number) => boolean {
  const set = new RegExp(`^(?:${source})$`, `${flags.replace("m", "")}u`);
  const known = new Map<number, boolean>();
  return (codePoint) => {
    if (codePoint > 127) return set.test(String.fromCodePoint(codePoint));
    let fits = known.get(codePoint);
    if (fits === undefined) {
      fits = set.test(String.fromCodePoint(codePoint));
      known.set(codePoint, fits);
    }
    return fits;
  };
}
