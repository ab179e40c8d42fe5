import type { PostgresClient } from "./postgres-client.ts";

/** Sends a statement. */
export type Query = (text: string, values: unknown[]) => Promise<{ readonly rows: readonly unknown[] }>;

/** How pg takes a statement that the server is to keep. */
interface PreparingClient {
  query(statement: { readonly name: string; readonly text: string; readonly values: unknown[] }): ReturnType<Query>;
}

/** True for what looks like a `Pool` or `Client` of pg, or one made after them: those take statements with names. */
export function canPrepare(client: PostgresClient): boolean {
  const { connect, end, on } = client as { connect?: unknown; end?: unknown; on?: unknown };
  return [connect, end, on].every((method) => typeof method === "function");
}

/**
 * Has the server keep the plan of every statement, per connection. Behind a pooler that hands a connection from one
 * transaction to the next and knows nothing of that, the server says so and does nothing; from then on nothing is kept.
 */
export function preparing(client: PostgresClient): Query {
  const names = new Map<string, string>();
  let isRefused = false;
  return async (text, values) => {
    if (isRefused) return client.query(text, values);
    let name = names.get(text);
    if (name === undefined) {
      name = nameOf(text);
      names.set(text, name);
    }
    try {
      return await (client as unknown as PreparingClient).query({ name, text, values });
    } catch (cause) {
      if (!isStranger(cause)) throw cause;
      isRefused = true;
      return client.query(text, values);
    }
  };
}

/** "Prepared statement does not exist", or exists already: this connection is not the one that we thought it was. */
function isStranger(cause: unknown): boolean {
  const { code } = (cause ?? {}) as { code?: unknown };
  return code === "26000" || code === "42P05";
}

/** Of the whole text: another version of ours, over the same pooler, has other names for other statements. */
function nameOf(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  return `stepfold_${(high >>> 0).toString(36)}_${(low >>> 0).toString(36)}_${text.length}`;
}
