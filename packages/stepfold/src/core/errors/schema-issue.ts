/** One mistake in a value that was checked against a schema. */
export interface SchemaIssue {
  /** JSON pointer into the value. */
  readonly pointer: string;
  readonly message: string;
}
