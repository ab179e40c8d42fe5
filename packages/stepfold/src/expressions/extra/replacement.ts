/**
 * Reads the replacement of a regular expression once, before the matches: texts that stay as they are, and the numbers of groups whose text
 * is put in, 0 for the whole match. `$&`, `$1`, `$12` and `$<name>` mean groups, and `$$` a dollar sign, as in JavaScript. What means no
 * group stays as it is.
 *
 * @param groups the names of the groups in their order
 */
export function readReplacement(replacement: string, groups: readonly (string | undefined)[]): readonly (string | number)[] {
  const numbers = new Map(groups.map((name, index) => [name, index + 1]));
  const parts: (string | number)[] = [];
  /** The first place that is not in `parts` yet. */
  let from = 0;
  /** The next `>`, which is searched for once for all the `$<` before it. */
  let close = replacement.indexOf(">");
  for (let at = replacement.indexOf("$"); at !== -1; ) {
    if (close !== -1 && close < at) close = replacement.indexOf(">", at);
    const [meaning, end] = signAt(replacement, at, close, numbers, groups.length);
    if (meaning !== undefined) {
      parts.push(replacement.slice(from, at), meaning);
      from = end;
    }
    at = replacement.indexOf("$", end);
  }
  parts.push(replacement.slice(from));
  return parts.filter((part) => part !== "");
}

/** Returns what the sign at a `$` means (undefined: nothing, it is text), and where it ends. */
function signAt(
  text: string,
  at: number,
  close: number,
  numbers: ReadonlyMap<string | undefined, number>,
  count: number,
): readonly [string | number | undefined, number] {
  const next = text[at + 1];
  if (next === "$") return ["$", at + 2];
  if (next === "&") return [0, at + 2];
  if (next === "<") return close === -1 ? [undefined, at + 1] : [numbers.get(text.slice(at + 2, close)), close + 1];
  const digits = /^\d\d?/.exec(text.slice(at + 1, at + 3))?.[0] ?? "";
  for (let length = digits.length; length > 0; length--) {
    const group = Number(digits.slice(0, length));
    if (group > 0 && group <= count) return [group, at + 1 + length];
  }
  return [undefined, at + 1 + digits.length];
}
