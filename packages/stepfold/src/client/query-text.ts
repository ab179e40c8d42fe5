/**
 * Writes a query as the end of a URL, with its `?`; empty text if it has no members. Lists are separated by commas. Members of `metadata`
 * become `meta.KEY` with their value as JSON, so that the text `7` and the number 7 differ. Each of `executions` has a key of its own.
 */
export function queryText(query: object = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of definedEntries(query)) {
    if (key === "metadata") for (const [name, wanted] of definedEntries(value)) search.append(`meta.${name}`, JSON.stringify(wanted));
    else if (key === "executions") for (const id of value as readonly string[]) search.append("execution", id);
    else search.append(key, String(value));
  }
  const text = String(search);
  return text && `?${text}`;
}

function definedEntries(of: object): readonly (readonly [string, object])[] {
  return Object.entries(of).filter(([, value]) => value !== undefined);
}
