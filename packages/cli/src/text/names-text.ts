/** The most names that are listed, unless only one more is left. */
const maxNames = 3;

/** Lists the first names of a list that may be very long: `a, b and c`, `a, b, c and 997 more`. */
export function namesText(names: Iterable<string>, last: "and" | "or" = "and"): string {
  const all = [...new Set(names)];
  const shown = all.length > maxNames + 1 ? [...all.slice(0, maxNames), `${all.length - maxNames} more`] : all;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} ${last} ${shown.at(-1)}`;
}
