import type { Duration } from "../values/duration.ts";
import type { Json, JsonSchema } from "../values/json.ts";

/**
 * A workflow: a graph of nodes and edges, as JSON.
 *
 * Its identity is a hash of what the engine acts on; `name`, `description`, `version`, `metadata` and
 * keys the engine does not know (an editor's positions and colours) are no part of it.
 */
export interface WorkflowDefinition {
  /** Name of the workflow among its siblings: `"content-approval"`. */
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  /** The author's own label. Stepfold tells versions apart by hash. */
  readonly version?: string;
  readonly metadata?: Readonly<Record<string, Json>>;
  /** Checked when an execution starts. */
  readonly input?: JsonSchema;
  /** Template of the execution's output. Default: the output of the last node that ended a path. */
  readonly output?: Json;
  /** First node. Default: the one node that no other node has an edge to. */
  readonly start?: string;
  /**
   * The first of the nodes that run at the end of an execution, whatever the end is: completed, failed or cancelled. Nothing else leads to them. They read how
   * it ends as `execution.end`. Only for whole executions: not where the workflow is run inside another one.
   */
  readonly finally?: string;
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  /** `stop` (default): a failure ends the other paths. `finish`: they run to their ends first. */
  readonly onFailure?: "stop" | "finish";
  /** As `incident` of every node that says nothing itself. */
  readonly incident?: boolean;
  /**
   * Longest time that an execution may take, from its start, or from `startAt`, to its end; where the workflow is run inside another one, each
   * run. Then it fails with `EXECUTION_TIMED_OUT`, whatever `onFailure` says. May be an `{{ expression }}` over input and metadata. Default: any.
   */
  readonly timeout?: Duration;
  /**
   * How many executions of one key may be driven at once; others wait for their turn, the longest due first. One that is
   * paused holds no place. Only where there is a store that can do this.
   */
  readonly concurrency?: Concurrency;
  /**
   * How many executions of one key may begin in any span of time of one length; others wait until there is room, those first that came first. Retries and
   * everything after the beginning are free. With `concurrency` beside it, the limit is kept as exactly, but fewer may begin than it allows. Only where
   * there is a store that can do this.
   */
  readonly rateLimit?: RateLimit;
  /**
   * The variables that its steps set, by name; expressions read them as `vars.NAME`. One that is not declared can be set all the same: then
   * what is set takes the place of what was there.
   */
  readonly variables?: Readonly<Record<string, Variable>>;
  /** Definitions that nodes of type `workflow` and `map` may name, in this workflow and in these. */
  readonly workflows?: Readonly<Record<string, WorkflowDefinition>>;
  /**
   * Written by Stepfold when it stores the definition: names of what it uses that older versions would ignore. A worker that
   * does not know one of them leaves the execution to others. It is no part of the identity.
   */
  readonly needs?: readonly string[];
}

/** A value that belongs to a scope and that its steps may change. */
export interface Variable {
  /** What it is before it is set: a constant. Default: what a variable of this name around the scope is, else nothing. */
  readonly initial?: Json;
  /**
   * What becomes of a value that is set. `set` (default): it takes the place of the current one. `add`: the sum of both numbers. `append`: a
   * list with one item more. `merge`: an object with the members of both, the new ones first. `max`: the larger of both numbers or texts.
   * Or an expression over `current` and `value`: `"{{ current.concat(value) }}"`.
   */
  readonly reducer?: string;
}

/** Executions that share a key, whatever their workflows, take turns. */
export interface Concurrency {
  /** What they share, as text with `{{ expressions }}` over input and metadata: `"customer-{{ input.customer }}"`. */
  readonly key: string;
  /** Driven at once, at most. Default 1. */
  readonly limit?: number;
}

/** Executions that share a key, whatever their workflows, begin no faster than this. */
export interface RateLimit {
  /** Executions that begin in any span of time as long as `period`, at most: 1 to 1,000. */
  readonly limit: number;
  /** Milliseconds, or a duration such as `"1m"`: from 1 ms to 366 days. */
  readonly period: Duration;
  /**
   * What they share, as text with `{{ expressions }}` over input and metadata: `"customer-{{ input.customer }}"`. Default: the id of the
   * workflow.
   */
  readonly key?: string;
}

/** A step of the graph. */
export interface Node {
  /** Unique in its workflow; letters, digits, `_` and `-`, at most 128. */
  readonly id: string;
  /** What people call it: any text, unique in its workflow. Expressions find it by `$("Charge the card").item.json`. */
  readonly name?: string;
  /** Names the node definition that performs it. */
  readonly type: string;
  /** Static configuration; its strings may hold `{{ expressions }}`. */
  readonly data?: Json;
  /** Overrides the node definition's policy. */
  readonly retryPolicy?: RetryPolicy;
  /**
   * Longest time one attempt may take; of a `workflow` or `map` node: until its sub-workflow or all its items have ended. May be an
   * `{{ expression }}`.
   */
  readonly timeout?: Duration;
  /** Longest time between two heartbeats of one attempt (`step.heartbeat()`), and before the first. May be an `{{ expression }}`. */
  readonly heartbeatTimeout?: Duration;
  /**
   * What happens where paths meet. `each` (default): every path that arrives performs the node. `all`: the paths of one
   * fork are merged, as soon as none of them can still come. A number n: the first n are merged.
   */
  readonly join?: "each" | "all" | number;
  /**
   * With a numeric join: what becomes of the paths of the same fork that come later. `ignore` (default): they end when
   * they come. `cancel`: they end at once. `block`: as `ignore`, and meanwhile no other round of the fork goes through.
   */
  readonly late?: "ignore" | "cancel" | "block";
  /** Nodes whose paths end when this node completes. */
  readonly cancels?: readonly string[];
  /** At most one path is at the nodes of this name at a time. */
  readonly mutex?: string;
  /** A path that arrives is held until this expression over the snapshot holds: `paths.review.length > 0`. */
  readonly when?: string;
  /**
   * What undoes this node's effect if the execution fails or is cancelled once the node's executor was called. `step.compensating`
   * tells a step that has completed from one that may or may not have had its effect; without a call nothing is undone.
   */
  readonly compensate?: Compensation;
  /**
   * True: when all attempts are used up, and no `error` edge takes the failure, the path stays and waits for a decision (a wait of kind
   * `incident`): retry, skip or fail. The rest of the execution goes on. Default: what the workflow says; else the failure counts.
   */
  readonly incident?: boolean;
  /** How many of this node's results stay in the context, newest first. Default: all. */
  readonly keep?: number;
  /** For editors: position, label. No executor sees it. */
  readonly metadata?: Readonly<Record<string, Json>>;
}

/** How to undo the effect of a node. */
export interface Compensation {
  /** Names the node definition that performs it. */
  readonly type: string;
  /** May hold `{{ expressions }}`; `$json` is the output that is to be undone, if the step has completed. */
  readonly data?: Json;
  readonly retryPolicy?: RetryPolicy;
  readonly timeout?: Duration;
}

/** A connection, in React Flow's shape. */
export interface Edge {
  readonly id?: string;
  readonly source: string;
  readonly target: string;
  /** The output port it leaves from. Absent or null: the default port. */
  readonly sourceHandle?: string | null;
  /** For editors; the engine does not read it. */
  readonly targetHandle?: string | null;
}

/**
 * When a failed attempt is made again.
 *
 * Delay before attempt k+1, after attempt k failed: `interval` (fixed) or `interval * 2^(k-1)`
 * (exponential), at most `maxInterval`.
 */
export interface RetryPolicy {
  /** Attempts in all, INCLUDING the first: 3 means two retries. */
  readonly maxAttempts: number | string;
  /** Milliseconds, a duration such as `"2s"`, or an `{{ expression }}` giving one. */
  readonly interval: number | string;
  readonly backoff: "fixed" | "exponential";
  /** Upper bound of the delay, in the same forms as `interval`. */
  readonly maxInterval?: number | string;
  /** Share of the delay (0 to 1) taken off at random, the same on every machine. Default 0. */
  readonly jitter?: number;
  /** Expression over `{ error, attempt }`: retry only when it holds. Default: always. */
  readonly retryIf?: string;
}

/** What the engine acts on of a node; all but this is for people and their tools. */
export const nodeMembers: readonly Exclude<keyof Node, "metadata">[] = [
  "id",
  "name",
  "type",
  "data",
  "retryPolicy",
  "timeout",
  "heartbeatTimeout",
  "join",
  "late",
  "cancels",
  "mutex",
  "when",
  "keep",
  "compensate",
  "incident",
];
