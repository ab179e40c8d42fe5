/** What an execution showed, label by label. The last label is its status. */
export type Labels = readonly string[];

/**
 * The labels of a written trace, one list for each transition of the execution: `"+a, -a +b +c, -b"` gives
 * `[["+a"], ["-a", "+b", "+c"], ["-b"]]`. `.flat()` gives the labels in order.
 */
export function parseTrace(text: string): string[][] {
  return text.split(",").map((group) => group.split(" ").filter((label) => label !== ""));
}

/** Whether the labels of `part` come in `whole` in this order, with anything between them. */
export function contains(whole: Labels, part: Labels): boolean {
  let found = 0;
  for (const label of whole) if (label === part[found]) found++;
  return found === part.length;
}

/** A trace with the `+` labels of each transition in every order: what one transition starts, starts at once. */
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
