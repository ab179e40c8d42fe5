import type { Duration } from "../values/duration.ts";
import type { Json, JsonSchema } from "../values/json.ts";

/**
 * A workflow: a graph of nodes and edges, as JSON.
 *
 * The identity of a workflow is a hash of everything that the engine uses. `name`, `description`, `version`, `metadata` and keys that the
 * engine does not know (for example the positions and colours of an editor) are not part of the hash.
 */
export interface WorkflowDefinition {
  /** Identifies the workflow among the workflows of its host, or of the workflow around it: `"content-approval"`. */
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  /** A label for people, such as `"1.2"`. Stepfold itself distinguishes versions by their hash. */
  readonly version?: string;
  readonly metadata?: Readonly<Record<string, Json>>;
  /** JSON Schema that the input is checked against when an execution starts. Absent: any input is accepted. */
  readonly input?: JsonSchema;
  /** Template of the execution's output. Default: the output of the last node that ended a path; if there is none, the latest output. */
  readonly output?: Json;
  /** Id of the first node. Default: the one node that no other node has an edge to; the node of `finally` does not count. */
  readonly start?: string;
  /**
   * Id of the first node that runs at the end of an execution, whether the execution completes, fails or is cancelled. No way may lead from
   * the first node of the workflow to this node or the nodes after it. They read how the execution ends as `execution.end`. Only for whole
   * executions: a workflow with `finally` cannot run inside another one.
   */
  readonly finally?: string;
  /**
   * The steps are not drawn here: the code of the one node asks for them while it runs. `undo`: some of them can be undone. Definitions made
   * by `defineDurable` have it.
   */
  readonly code?: true | "undo";
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  /** `stop` (default): a failure ends all other paths at once. `finish`: the other paths run to their ends first. */
  readonly onFailure?: "stop" | "finish";
  /** The default of `incident` for the nodes of this workflow that do not set it. Default: false. */
  readonly incident?: boolean;
  /**
   * The longest time that an execution may take from its start (or from `startAt`) to its end. If the workflow runs inside another one, the
   * longest time of each run. When the time is over, the execution or run fails with `EXECUTION_TIMED_OUT`, also with
   * `onFailure: "finish"`. May be an `{{ expression }}` over input and metadata. Default: no limit.
   */
  readonly timeout?: Duration;
  /**
   * Limits how many executions with the same key are driven at once. The other ones wait; the execution that has been due for the longest
   * time is next. A paused execution does not take a place. Needs a store that supports permits.
   */
  readonly concurrency?: Concurrency;
  /**
   * Limits how many executions with the same key begin within any span of time of a given length. The other ones wait in the order in which
   * they came. Only the beginning of an execution counts, not its retries and later steps. If `concurrency` is set too, the limit is never
   * exceeded either, but fewer executions may begin than it allows. Needs a store that supports permits.
   */
  readonly rateLimit?: RateLimit;
  /**
   * The task queue of its executions, such as `"gpu"`: only processes that take it (`taskQueues` of `createRuntime`) run them. `start` may name
   * another one. 1 to 128 letters, digits, `_` and `-`. It is that of the execution for all its runs and workflows inside it, and has no
   * effect where the workflow runs inside another one. Default: `"default"`.
   */
  readonly taskQueue?: string;
  /**
   * The variables that steps of the workflow set, by name. Expressions read them as `vars.NAME`. A variable that is not declared here can
   * be set too: each new value then replaces the old one.
   */
  readonly variables?: Readonly<Record<string, Variable>>;
  /** Definitions that nodes of type `workflow` and `map` may name, by name: nodes of this workflow, and of the workflows listed here. */
  readonly workflows?: Readonly<Record<string, WorkflowDefinition>>;
  /**
   * Names of features that the definition uses and that older versions of Stepfold would ignore. Stepfold adds them when it stores the
   * definition. A worker that does not know one of the names leaves the execution to other workers. Not part of the identity.
   */
  readonly needs?: readonly string[];
}

/** A value that belongs to a scope and that its steps may change. */
export interface Variable {
  /**
   * The value before the variable is set: a constant, without expressions. Default: the value of the variable with this name in the scope
   * around; if there is none, the variable has no value.
   */
  readonly initial?: Json;
  /**
   * How the new value of the variable is made when a step sets a value. `set` (default): the set value replaces the current one. `add`: the
   * sum of both numbers. `append`: the current list with the set value as one more item. `merge`: an object with the members of both; for a
   * member of both, the set value wins. `max`: the larger of both numbers or texts. Or an expression over `current` and `value`:
   * `"{{ current.concat(value) }}"`.
   */
  readonly reducer?: string;
}

/** A limit on how many executions with the same key are driven at once. Executions of different workflows may share a key. */
export interface Concurrency {
  /** The key, as text with `{{ expressions }}` over input and metadata: `"customer-{{ input.customer }}"`. */
  readonly key: string;
  /** The most executions with this key that are driven at once: 1 to 10,000. Default 1. */
  readonly limit?: number;
}

/** A limit on how fast executions with the same key begin. Executions of different workflows may share a key. */
export interface RateLimit {
  /** The most executions that begin in any span of time as long as `period`: 1 to 1,000. */
  readonly limit: number;
  /** Length of the span: milliseconds, or a duration such as `"1m"`, from 1 ms to 366 days. */
  readonly period: Duration;
  /**
   * The key, as text with `{{ expressions }}` over input and metadata: `"customer-{{ input.customer }}"`. Default: the id of the workflow.
   */
  readonly key?: string;
}

/** A step of the graph. */
export interface Node {
  /** Unique in its workflow; letters, digits, `_` and `-`, at most 128. */
  readonly id: string;
  /** A name for people: any text, unique in its workflow. Expressions may use the name: `$("Charge the card").item.json`. */
  readonly name?: string;
  /** Name of the node definition that performs the node. */
  readonly type: string;
  /** Static configuration; its strings may hold `{{ expressions }}`. */
  readonly data?: Json;
  /** When a failed attempt of this node is made again. Overrides the node definition's policy. */
  readonly retryPolicy?: RetryPolicy;
  /**
   * The longest time that one attempt may take. For a `workflow` or `map` node, the time until its sub-workflow or all its items have ended;
   * for `approval`, `signal`, `race` and `wait`, the time that they wait. Default: 10 minutes for an attempt, no limit for what waits. After
   * it, the path leaves by the edge `timeout`, else by `error`, else the step fails. May be an `{{ expression }}`.
   */
  readonly timeout?: Duration;
  /** Longest time between two heartbeats of one attempt (`step.heartbeat()`), and before the first. May be an `{{ expression }}`. */
  readonly heartbeatTimeout?: Duration;
  /**
   * What happens when several paths arrive at this node. `each` (default): every path performs the node separately. `all`: the paths of one
   * fork are merged as soon as no further path of that fork can arrive. A number n: the first n paths of a fork are merged.
   */
  readonly join?: "each" | "all" | number;
  /**
   * With a numeric join: what happens to the other paths of the same fork. `ignore` (default): they end when they arrive. `cancel`: they
   * end at once when the join fires. `block`: as `ignore`, and as long as such paths can still arrive, the join does not fire for another
   * visit of the fork.
   */
  readonly late?: "ignore" | "cancel" | "block";
  /** Ids of nodes. When this node completes, all other paths at those nodes end. */
  readonly cancels?: readonly string[];
  /** A name that several nodes may share. Only one path at a time runs at the nodes with this name; other paths that arrive are held. */
  readonly mutex?: string;
  /** A condition over the snapshot, such as `paths.review.length > 0`. A path that arrives is held until the condition is true. */
  readonly when?: string;
  /**
   * How to undo the effect of this node if the execution fails or is cancelled after the node's executor was called. `step.compensating`
   * says whether the step had completed, or may or may not have had its effect, and under which idempotency key it has acted. If the
   * executor was never called, nothing is undone.
   */
  readonly compensate?: Compensation;
  /**
   * True: when all attempts have failed and the node has no `error` edge, the path stays at the node and waits for a decision (a wait of
   * kind `incident`): retry, skip or fail. The other paths go on. Default: `incident` of the workflow; without it, the execution fails.
   */
  readonly incident?: boolean;
  /** The number of newest results of this node that stay in the context. Default: all; always all if the node has a `compensate`. */
  readonly keep?: number;
  /** Data for editors, such as position and label. Executors do not see it. */
  readonly metadata?: Readonly<Record<string, Json>>;
}

/** How to undo the effect of a node. */
export interface Compensation {
  /** Name of the node definition that performs the compensation. */
  readonly type: string;
  /** Configuration, may hold `{{ expressions }}`. `$json` is the output of the step that is undone, if the step had completed. */
  readonly data?: Json;
  readonly retryPolicy?: RetryPolicy;
  readonly timeout?: Duration;
}

/** A connection between two nodes, in the format of React Flow. */
export interface Edge {
  readonly id?: string;
  readonly source: string;
  readonly target: string;
  /** The handle (exit) of the source node at which the edge begins. Absent, null or empty: the default handle. */
  readonly sourceHandle?: string | null;
  /** For editors; the engine does not read it. */
  readonly targetHandle?: string | null;
}

/**
 * When a failed attempt is made again.
 *
 * Delay before attempt k+1, after attempt k failed: `interval` (fixed) or `interval * 2^(k-1)`
 * (exponential), at most `maxInterval`. A `RetryAfterError` brings its own delay instead, which is at most `maxInterval` too.
 */
export interface RetryPolicy {
  /** The number of all attempts, including the first: 3 means two retries. May be an `{{ expression }}`. */
  readonly maxAttempts: number | string;
  /** Milliseconds, a duration such as `"2s"`, or an `{{ expression }}` giving one. */
  readonly interval: number | string;
  readonly backoff: "fixed" | "exponential";
  /** Upper bound of the delay, in the same forms as `interval`. */
  readonly maxInterval?: number | string;
  /** The largest share of the delay (0 to 1) that is subtracted at random. The result is the same on every machine. Default 0. */
  readonly jitter?: number;
  /** Expression over `error` and `attempt`: a failure is retried only if it is true. A `FatalError` is never retried. Default: true. */
  readonly retryIf?: string;
}

/** The members of a node that the engine uses. All other members are for people and their tools. */
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
