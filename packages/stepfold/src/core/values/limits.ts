/** Bounds that keep a hostile or mistaken value from hurting the process or the store. */
export interface Limits {
  /** Nesting of one value. */
  readonly depth: number;
  /** Object keys and array items of one value, in all. */
  readonly keys: number;
  /** One value, as JSON. */
  readonly valueBytes: number;
  /** One string, in UTF-16 code units. */
  readonly stringLength: number;
  /** All values of an execution, as JSON. */
  readonly executionBytes: number;
  /** Attempts of an execution, in all; to undo what it did it may make twice as many more. */
  readonly steps: number;
  /** Paths open at once. */
  readonly paths: number;
  /** Sub-workflows and maps inside each other. */
  readonly nesting: number;
  /** Sub-workflows and items of maps open at once. */
  readonly scopes: number;
  /** Items of one map under way at once: the highest `concurrency`. */
  readonly mapConcurrency: number;
  /** Detached executions that one start may lead to, with all that these begin. */
  readonly descendants: number;
  /** Executions that one signal to all reaches. */
  readonly receivers: number;
  /** Signals kept for waits that are not open yet. */
  readonly inbox: number;
  /** The same, in bytes of JSON: every commit writes them. */
  readonly inboxBytes: number;
  /** A definition that is handed over, as JSON. */
  readonly definitionBytes: number;
  /** Nodes of a definition, and of each workflow in it. */
  readonly nodes: number;
  /** Edges of a definition, and of each workflow in it. */
  readonly edges: number;
  /** Variables that one scope has, and that a definition declares. */
  readonly variables: number;
  /** Workflows that a definition brings, and each workflow in it. */
  readonly workflows: number;
  /** Mistakes that are listed of a definition, and doubts; and of a value that does not fit its schema. */
  readonly issues: number;
  /** Work of one check of a value against a JSON Schema: schemas entered, keys and items looked at, steps of patterns. 30 ns each. */
  readonly schemaWork: number;
  /** How far ahead a timer may lie. */
  readonly timerMs: number;
}

/** What applies where you say nothing else. */
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
  timerMs: 10 * 365 * 24 * 60 * 60 * 1000,
});
