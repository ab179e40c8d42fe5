/** What was not undone, as the end of a message. */
export const notUndoneText = ({ notUndone }: { notUndone?: readonly string[] }): string =>
  notUndone ? `; what was not undone: ${itemsText(notUndone)}` : "";

/** Items of a message, the first of them. */
export const itemsText = (items: readonly string[], maxCount = 10): string =>
  (items.length > maxCount ? `${items.slice(0, maxCount).join(", ")} and ${items.length - maxCount} more` : items.join(", ")) || "none";
/** What is wrong, a line for each mistake. */
export const issuesText = (issues: readonly { readonly pointer: string; readonly message: string }[]): string =>
  issues
    .slice(0, 20)
    .map((issue) => `\n  ${issue.pointer || "/"}: ${issue.message}`)
    .join("") + (issues.length > 20 ? `\n  and ${issues.length - 20} more` : "");
