/** Bounds that keep a hostile or mistaken value from hurting the process or the store. */
export interface Limits {
  /** Depth of nesting of one value. */
  readonly depth: number;
  /** Object keys and array items of one value, in total. A definition may have ten times as many. */
  readonly keys: number;
  /** Size of one value, in bytes of JSON, counted approximately (`sizeOfJson`). For a definition `definitionBytes` counts instead. */
  readonly valueBytes: number;
  /** Length of one string, in UTF-16 code units. */
  readonly stringLength: number;
  /** Size of all values of an execution, in bytes of JSON. */
  readonly executionBytes: number;
  /** Attempts of all steps of an execution. Its compensations and the nodes of `finally` may use twice as many in addition. */
  readonly steps: number;
  /** Paths of one scope that are open at once. */
  readonly paths: number;
  /** Depth of sub-workflows and maps inside each other; also how many executions may be above a detached one. */
  readonly nesting: number;
  /** Sub-workflows and items of maps of one execution that are open at once. */
  readonly scopes: number;
  /** Items of one map that are in progress at once: the highest `concurrency` of a map. */
  readonly mapConcurrency: number;
  /** Detached executions that one start may lead to, including those that they start themselves. */
  readonly descendants: number;
  /** Executions that one broadcast signal reaches. */
  readonly receivers: number;
  /** Signals that an execution keeps for waits that are not open yet. */
  readonly inbox: number;
  /** Size of these kept signals, in bytes of JSON. Every commit writes them. */
  readonly inboxBytes: number;
  /** Size of a definition that is passed in, in bytes of JSON. */
  readonly definitionBytes: number;
  /** Nodes of a definition, and of each workflow inside it. */
  readonly nodes: number;
  /** Edges of a definition, and of each workflow inside it. */
  readonly edges: number;
  /** Variables that one scope has, and variables that a definition declares. */
  readonly variables: number;
  /** Entries of `workflows` in a definition, and in each workflow inside it. */
  readonly workflows: number;
  /** Errors, and also warnings, that are listed for a definition; and mistakes that are listed for a value that does not fit its schema. */
  readonly issues: number;
  /**
   * Work of one check of a value against a JSON Schema: schemas entered, keys and items read, steps of patterns. Each takes about 30 ns.
   */
  readonly schemaWork: number;
  /**
   * Work of one evaluation of one expression: items handled by array helpers, characters searched, and so on; all expressions of one value
   * together may do twice as much. For each step an expression may build 16 characters of output, and 1,048,576 in any case. A step
   * takes up to 1 µs.
   */
  readonly expressionSteps: number;
  /** How far in the future a timer may lie, in milliseconds. */
  readonly timerMs: number;
  /** How long an execution knows an idempotency key at least, in milliseconds: after that the same key may count again. */
  readonly idempotencyKeyMs: number;
}

/** The limits that apply by default. */
export const defaultLimits: Limits = Object.freeze({
  depth: 64,
  keys: 100_000,
  valueBytes: 2 * 1024 * 1024,
  stringLength: 1024 * 1024,
  executionBytes: 64 * 1024 * 1024,
  steps: 100_000,
  paths: 10_000,
  nesting: 32,
  scopes: 10_000,
  mapConcurrency: 1_000,
  descendants: 10_000,
  receivers: 1_000,
  inbox: 1_000,
  inboxBytes: 2 * 1024 * 1024,
  definitionBytes: 2 * 1024 * 1024,
  nodes: 5_000,
  edges: 20_000,
  variables: 1_000,
  workflows: 200,
  issues: 100,
  schemaWork: 5_000_000,
  expressionSteps: 250_000,
  timerMs: 10 * 365 * 24 * 60 * 60 * 1000,
  idempotencyKeyMs: 7 * 24 * 60 * 60 * 1000,
});
