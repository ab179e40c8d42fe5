import { StatementSync } from "node:sqlite";

/** A client that counts the bytes it is given. */
export interface Counted<C> {
  readonly client: C;
  /** The bytes handed over so far: text counts in UTF-8, a number counts 8; names of commands and texts of statements do not count. */
  readonly bytes: () => number;
}

/**
 * Counts the parameters of all calls of a client's methods, and of the connections or collections that the client returns.
 *
 * @param parametersOf returns the parts of a call that are parameters, or null if the call has none
 */
export function counted<C extends object>(client: C, parametersOf: (method: string, args: readonly unknown[]) => unknown): Counted<C> {
  let bytes = 0;
  const watch = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, key) {
        const member: unknown = Reflect.get(object, key);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          bytes += sizeOf(parametersOf(String(key), args));
          const result: unknown = member.apply(object, args);
          if (result instanceof Promise) return result.then((value: unknown) => (isConnection(value) ? watch(value) : value));
          return isConnection(result) ? watch(result) : result;
        };
      },
    });
  return { client: watch(client), bytes: () => bytes };
}

/** True if the result of a call is a connection or a collection, whose calls have to be counted too. */
function isConnection(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return "release" in value || "collectionName" in value;
}

/** Counts the bytes that this process binds to SQLite statements from this call on. The returned function returns the count. */
export function countedStatements(): () => number {
  let bytes = 0;
  for (const method of ["run", "get", "all"] as const) {
    const original = StatementSync.prototype[method] as (...values: unknown[]) => unknown;
    const counting = function (this: StatementSync, ...values: unknown[]): unknown {
      bytes += sizeOf(values);
      return original.apply(this, values);
    };
    Object.assign(StatementSync.prototype, { [method]: counting });
  }
  return () => bytes;
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.byteLength;
  if (typeof value === "number" || typeof value === "bigint") return 8;
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + sizeOf(one), 0);
  if (typeof value === "object" && value !== null) return sizeOf(Object.values(value));
  return 0;
}
