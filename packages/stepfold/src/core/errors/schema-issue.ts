/** One thing wrong with a value that a schema describes. */
export interface SchemaIssue {
  /** JSON pointer into the value. */
  readonly pointer: string;
  readonly message: string;
}
