/**
 * The Standard Schema interface (standardschema.dev, version 1), which zod, valibot, arktype and others implement.
 * Written out here, as the specification allows, so that it is no dependency.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Says itself as a JSON Schema (Standard JSON Schema, version 1); throws where there are no words for it. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: "draft-2020-12" }) => unknown } | undefined;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What validating gave: the value, perhaps transformed, or what is wrong with it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };
