/**
 * What we need of a client: one method. A `Pool` or `Client` of pg, Neon's `Pool`, and PGlite have it as they are.
 *
 * Every statement is one call that stands for itself, so it does not matter over which connection of a pool it goes.
 * Described here and not imported, so that no driver is a dependency.
 */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}
