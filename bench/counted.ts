import { StatementSync } from "node:sqlite";

/** A client that is measured. */
export interface Counted<C> {
  readonly client: C;
  /** Bytes handed over so far: text in UTF-8, 8 for a number; names of commands and texts of statements do not count. */
  readonly bytes: () => number;
}

/**
 * Counts what goes through the methods of a client, and through the connections or collections that they give.
 *
 * @param parametersOf what of a call are parameters; null: nothing
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

/** What a call gives to make further calls on. */
function isConnection(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return "release" in value || "collectionName" in value;
}

/** Counts what this process binds to statements of SQLite from now on. */
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
