import { charge, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import { kindOf } from "../evaluation/read-member.ts";
import { type CallSite, type ListedFunction, textAt, wholeAt } from "../functions/argument.ts";
import { PatternValue } from "../pattern/pattern-value.ts";
import { readReplacement } from "./replacement.ts";
import { type Match, PatternSearch } from "./search-pattern.ts";

/** Yields the matches of a pattern in their order, only the first one if the pattern is not global. */
function* matches(frame: Frame, pattern: PatternValue, text: string, isGlobal = pattern.isGlobal): Generator<Match> {
  const search = new PatternSearch(frame, pattern, text);
  for (let from = 0; from <= search.length; ) {
    const match = search.search(from);
    if (match === null) return;
    charge(frame, 1);
    yield match.found;
    if (!isGlobal) return;
    // After an empty match the search continues one letter later.
    from = match.found[0] === match.found[1] ? match.end + 1 : match.end;
  }
}

function groupsOf(frame: Frame, text: string, found: Match): (string | undefined)[] {
  const groups: (string | undefined)[] = [];
  for (let slot = 0; slot < found.length; slot += 2) {
    const group = found[slot + 1]! < 0 ? undefined : text.slice(found[slot], found[slot + 1]);
    grow(frame, 8 + (group?.length ?? 0));
    groups.push(group);
  }
  return groups;
}

function patternOf(frame: Frame, site: CallSite, value: unknown): PatternValue {
  if (value instanceof PatternValue) return value;
  return failEvaluation(frame, site.position, `${site.name}() needs a regular expression such as /a+/, not ${kindOf(value)}`);
}

const firstGroups = (frame: Frame, pattern: PatternValue, text: string): (string | undefined)[] | null => {
  const [found] = matches(frame, pattern, text, false);
  return found === undefined ? null : groupsOf(frame, text, found);
};

const match: ListedFunction = (frame, site, self, args) => {
  const pattern = patternOf(frame, site, args[0]);
  const text = textAt(frame, site, [self], 0);
  if (!pattern.isGlobal) return firstGroups(frame, pattern, text);
  const texts: (string | undefined)[] = [];
  for (const found of matches(frame, pattern, text)) texts.push(groupsOf(frame, text, found.slice(0, 2))[0]);
  return texts.length === 0 ? null : texts;
};

const matchAll: ListedFunction = (frame, site, self, args) => {
  const text = textAt(frame, site, [self], 0);
  const all: (string | undefined)[][] = [];
  for (const found of matches(frame, patternOf(frame, site, args[0]), text, true)) {
    grow(frame, 8);
    all.push(groupsOf(frame, text, found));
  }
  return all;
};

const test: ListedFunction = (frame, site, self, args) => {
  const [found] = matches(frame, patternOf(frame, site, self), textAt(frame, site, args, 0), false);
  return found !== undefined;
};

const search: ListedFunction = (frame, site, self, args) => {
  const [found] = matches(frame, patternOf(frame, site, args[0]), textAt(frame, site, [self], 0), false);
  return found === undefined ? -1 : found[0];
};

/** Replaces matches. In the replacement `$&`, `$1` and `$<name>` stand for matched text, as in JavaScript. */
const replace: ListedFunction = (frame, site, self, args) => {
  const pattern = patternOf(frame, site, args[0]);
  const text = textAt(frame, site, [self], 0);
  const replacement = textAt(frame, site, args, 1);
  charge(frame, replacement.length / 16);
  const parts = readReplacement(replacement, pattern.parsed.groups);
  const pieces: string[] = [];
  let end = 0;
  for (const found of matches(frame, pattern, text, pattern.isGlobal || site.name === "replaceAll")) {
    charge(frame, parts.length / 4);
    pieces.push(text.slice(end, found[0]));
    for (const part of parts) {
      // each piece is paid for before the next one is made, however often the replacement names the same group
      const piece = typeof part === "string" ? part : text.slice(found[2 * part], Math.max(found[2 * part]!, found[2 * part + 1]!));
      grow(frame, piece.length);
      pieces.push(piece);
    }
    end = found[1]!;
  }
  pieces.push(text.slice(end));
  grow(frame, text.length);
  return pieces.join("");
};

/** Splits a text at the matches. The texts of groups stand between the pieces, as in JavaScript. */
const split: ListedFunction = (frame, site, self, args) => {
  const text = textAt(frame, site, [self], 0);
  const limit = wholeAt(frame, site, args, 1, -1);
  const pieces: (string | undefined)[] = [];
  let end = 0;
  for (const found of matches(frame, patternOf(frame, site, args[0]), text, true)) {
    // An empty match at the beginning or end of the text, or where the last match ended, does not split the text.
    if (found[1] === end && found[0] === end) {
      if (text === "") return [];
      continue;
    }
    if (found[0]! >= text.length) break;
    grow(frame, 8 + found[0]! - end);
    pieces.push(text.slice(end, found[0]), ...groupsOf(frame, text, found).slice(1));
    end = found[1]!;
  }
  grow(frame, 8 + text.length - end);
  pieces.push(text.slice(end));
  // as in JavaScript, a negative limit is none
  return limit < 0 ? pieces : pieces.slice(0, limit);
};

/** Functions that take a regular expression. */
export const patternFunctions: readonly (readonly [string, ListedFunction])[] = [
  ["test", test],
  ["exec", (frame, site, self, args) => firstGroups(frame, patternOf(frame, site, self), textAt(frame, site, args, 0))],
  ["match", match],
  ["matchAll", matchAll],
  ["search", search],
  ["replace", replace],
  ["split", split],
];
