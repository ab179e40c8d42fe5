import { cutText } from "./cut-text.ts";
import type { ErrorDetails } from "./error-details.ts";

/** The most characters of an id, a name, a key or a pointer that a message repeats. */
const maxQuoted = 300;
/** The most characters of a reason, which is a message itself. */
const maxReason = 2_000;

/**
 * Returns the details of an error with their texts cut, for its message and for logs. Ids and keys come from outside and may be very long,
 * and without the cut every message and log line would repeat them in full.
 *
 * @param longest the most characters of a text; `reason` and `message` may always have 2,000
 */
export function cutDetails<D>(details: D, longest: number = maxQuoted): D {
  const cut = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return cutText(value, key === "reason" || key === "message" ? maxReason : longest);
    if (Array.isArray(value)) return value.map((item) => cut(item, key));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member, name)]));
  };
  return cut(details, "") as D;
}

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
    .map((issue) => `\n  ${issue.pointer || "/"}: ${cutText(issue.message, maxQuoted)}`)
    .join("") + (issues.length > 20 ? `\n  and ${issues.length - 20} more` : "");

/** Says why an execution cannot go on with a definition that is not the one that it was started with. */
export function changedDefinitionText(d: ErrorDetails<"DEFINITION_CHANGED">): string {
  const [actual, expected] = [d.actual.slice(0, 12), d.expected.slice(0, 12)];
  if (d.isStored)
    return `Execution "${d.workflowId}" is pinned to a definition (hash ${actual}), but the definition that the store has under that hash is another one (hash ${expected}): it was changed after it was stored`;
  if (d.missing)
    return `Execution "${d.workflowId}" (definition ${actual}) has paths at nodes that this definition (${expected}) does not contain: ${itemsText(d.missing)}`;
  const started = `Execution "${d.workflowId}" was started with another version of its definition (${actual}, not ${expected})`;
  return d.inJournal
    ? `${started}, and the journal of its host can go on only with that version. Keep that version deployed until the execution has ended`
    : `${started}. Use version ${actual}, or pass definition: "current" to go on with version ${expected}`;
}
