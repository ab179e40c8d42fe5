import type { Json } from "../core/values/json.ts";

/**
 * What is left of a value once it was kept as JSON: a `Date` is text, an `undefined` member is missing, and functions and promises are refused when
 * the value is kept. A step gives its value in this form, also when it has just run.
 */
export type Jsonified<T> = T extends Json
  ? T
  : // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing has this type
    T extends undefined | void
    ? null
    : T extends { toJSON(): infer J }
      ? Jsonified<J>
      : T extends bigint | symbol | ((...args: never[]) => unknown) | PromiseLike<unknown>
        ? never
        : T extends readonly unknown[]
          ? { -readonly [I in keyof T]: Jsonified<T[I]> }
          : T extends object
            ? { [K in keyof T]: undefined extends T[K] ? Jsonified<Exclude<T[K], undefined>> | undefined : Jsonified<T[K]> }
            : Json;
