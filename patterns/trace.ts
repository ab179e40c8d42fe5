/** The labels of an execution. The last one is its status. */
export type Labels = readonly string[];

/**
 * Parses a written trace into labels, one list for each transition of the execution: `"+a, -a +b +c, -b"` gives
 * `[["+a"], ["-a", "+b", "+c"], ["-b"]]`. `.flat()` gives the labels in order.
 */
export function parseTrace(text: string): string[][] {
  return text.split(",").map((group) => group.split(" ").filter((label) => label !== ""));
}

/** True if `whole` contains the labels of `part` in this order, with any labels between them. */
export function contains(whole: Labels, part: Labels): boolean {
  let found = 0;
  for (const label of whole) if (label === part[found]) found++;
  return found === part.length;
}

/**
 * Returns a trace with the `+` labels of each transition in every order, because nodes that one transition starts begin at the same
 * time.
 */
export function reorderings(trace: readonly Labels[]): string[][] {
  return trace.reduce<string[][]>(
    (heads, group) => {
      const rest = group.filter((label) => !label.startsWith("+"));
      const starts = permutations(group.filter((label) => label.startsWith("+")));
      return heads.flatMap((head) => starts.map((order) => [...head, ...rest, ...order]));
    },
    [[]],
  );
}

function permutations(labels: Labels): string[][] {
  if (labels.length === 0) return [[]];
  return [...new Set(labels)].flatMap((first) => {
    const at = labels.indexOf(first);
    return permutations(labels.toSpliced(at, 1)).map((rest) => [first, ...rest]);
  });
}
