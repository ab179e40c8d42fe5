/**
 * A member of anything at all; undefined where there is none, and where it cannot be read: what was thrown or handed in
 * may itself throw when looked at.
 */
export function safeMember(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    return (value as Readonly<Record<string, unknown>>)[key];
  } catch {
    return undefined;
  }
}
