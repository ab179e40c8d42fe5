/**
 * Returns the candidate that was probably meant by `word`: at most two letters differ, fewer in a short word. Undefined if there is none.
 */
export function similar(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.min(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const off = distance(word.toLowerCase(), candidate.toLowerCase(), least);
    if (off < least) [best, least] = [candidate, off];
  }
  return best;
}

/** Returns how many letters to insert, delete or change (Levenshtein). Returns `max` at once if the lengths differ by `max` or more. */
function distance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) >= max) return max;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}
