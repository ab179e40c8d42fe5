/**
 * Returns a member of any value; undefined if there is none, or if reading it throws. A value from outside may have a getter that throws.
 */
export function safeMember(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    return (value as Readonly<Record<string, unknown>>)[key];
  } catch {
    return undefined;
  }
}
