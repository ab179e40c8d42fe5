import type { Json, JsonSchema } from "../../core/values/json.ts";

/**
 * The Standard Schema interface (standardschema.dev, version 1), which zod, valibot, arktype and others implement. It is copied here, as
 * the specification allows, so that no dependency is needed.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Returns the schema as a JSON Schema (Standard JSON Schema, version 1); throws if JSON Schema cannot express it. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: "draft-2020-12" }) => unknown } | undefined;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of a validation: the value, which may be transformed, or the mistakes in it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

/**
 * A function that checks a value. It returns the value, which it may have transformed, or throws (or rejects) if the value does not fit. So
 * a schema of a library without Standard Schema can be used: `(data) => schema.parse(data)`. Of the error, `issues` with `message` and
 * `path` are told if there are any, else its message.
 */
export type SchemaFunction<Output = unknown> = (value: unknown) => Later<Output> | Promise<Later<Output>>;

/** The same type; the compiler infers `Output` from it only if nothing else tells it: schemas of arktype are functions too. */
type Later<Output> = Output & (NonNullable<unknown> | null | undefined);

/** A schema: a Standard Schema, a function that checks, or a JSON Schema. */
export type Schema<Input = unknown, Output = Input> = StandardSchema<Input, Output> | SchemaFunction<Output> | JsonSchema;

/** Schemas by name. */
export type Schemas = Readonly<Record<string, Schema>>;

/** What a value must be before a schema has read it: JSON, if the schema does not say. */
export type SchemaInput<S> = [Schema] extends [S] ? Json : InputOf<S>;
type InputOf<S> = S extends { readonly "~standard": { readonly types?: { readonly input: infer I } | undefined } } ? I : OutputOf<S>;

/** What a schema makes of a value: JSON, if the schema does not say. */
export type SchemaOutput<S> = [Schema] extends [S] ? Json : OutputOf<S>;
type OutputOf<S> = S extends { readonly "~standard": { readonly types?: { readonly output: infer O } | undefined } }
  ? O
  : S extends (value: never) => infer R
    ? Awaited<R>
    : Json;
