/** The largest number of changes between a name and the name that is suggested for it. */
const maxDistance = 2;

/** Returns a question with the closest known name, to append to a message. Returns an empty text if no name is close. */
export function didYouMean(name: string, known: Iterable<string>): string {
  let best: string | undefined;
  let least = maxDistance + 1;
  for (const candidate of known) {
    const steps = distance(name.toLowerCase(), candidate.toLowerCase());
    if (steps < least && steps < candidate.length) [best, least] = [candidate, steps];
  }
  return best === undefined ? "" : ` Did you mean "${best}"?`;
}

/**
 * Returns how many changes make one word of the other: a letter replaced, added or removed, or two neighbours swapped. Words whose
 * lengths differ too much give `maxDistance + 1` at once.
 */
function distance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > maxDistance) return maxDistance + 1;
  let older: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let least = Math.min(above[column]! + 1, current[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) least = Math.min(least, older[column - 2]! + 1);
      current.push(least);
    }
    [older, above] = [above, current];
  }
  return above[right.length]!;
}
