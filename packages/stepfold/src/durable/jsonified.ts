import type { Json } from "../core/values/json.ts";

/**
 * What is left of a value once it was kept as JSON: a `Date` is text, an `undefined` member is missing, and functions are refused when the value is
 * kept. A step gives its value in this form, also when it has just run.
 */
export type Jsonified<T> = T extends Json
  ? T
  : // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing has this type
    T extends undefined | void
    ? null
    : T extends { toJSON(): infer J }
      ? Jsonified<J>
      : T extends bigint | symbol | ((...args: never[]) => unknown)
        ? never
        : T extends readonly unknown[]
          ? { -readonly [I in keyof T]: Jsonified<T[I]> }
          : T extends object
            ? JsonifiedMembers<T>
            : T;

/** The members of an object as they are kept. Members that may be undefined may be missing. */
type JsonifiedMembers<T> = unknown extends T
  ? unknown
  : { [K in keyof T]: undefined extends T[K] ? Jsonified<Exclude<T[K], undefined>> | undefined : Jsonified<T[K]> };
