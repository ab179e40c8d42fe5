/**
 * A member by which something thrown is recognised, also when it comes from a second copy of this package; undefined
 * where there is none. Anything can be thrown, also what throws when looked at.
 */
export function brandOf(thrown: unknown, brand: string): unknown {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  try {
    return (thrown as Readonly<Record<string, unknown>>)[brand];
  } catch {
    return undefined;
  }
}
