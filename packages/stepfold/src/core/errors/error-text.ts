/** Returns the end of a message that names what was not undone; an empty text if everything was undone. */
export const notUndoneText = ({ notUndone }: { notUndone?: readonly string[] }): string =>
  notUndone ? `; what was not undone: ${itemsText(notUndone)}` : "";

/** Lists items in a message: the first `maxCount`, and how many more there are. */
export const itemsText = (items: readonly string[], maxCount = 10): string =>
  (items.length > maxCount ? `${items.slice(0, maxCount).join(", ")} and ${items.length - maxCount} more` : items.join(", ")) || "none";
/** Lists issues in a message, one per line: the first 20, and how many more there are. */
export const issuesText = (issues: readonly { readonly pointer: string; readonly message: string }[]): string =>
  issues
    .slice(0, 20)
    .map((issue) => `\n  ${issue.pointer || "/"}: ${issue.message}`)
    .join("") + (issues.length > 20 ? `\n  and ${issues.length - 20} more` : "");
