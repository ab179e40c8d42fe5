import type { CompiledNode } from "../core/definition/compiled.ts";
import type { Event } from "../core/snapshot/event.ts";
import type { Warning } from "../core/snapshot/parts/warning.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { Draft } from "../core/transition/draft/draft.ts";
import type { Task } from "../core/transition/plan.ts";
import type { EpochMs } from "../core/values/json.ts";
import type { Environment } from "../ports/environment.ts";
import type { AttemptContext } from "./attempt/attempt-state.ts";
import type { Outcome } from "./attempt/outcome.ts";
import type { CodeRuns, CodeRunsHost } from "./code/code-runs.ts";
import type { Secrets } from "./secrets/secrets.ts";
import type { PreparedNode } from "./workflow/prepared-node.ts";

/** Values that a caller gives to the attempts of one call. */
export interface AttemptRequest {
  readonly globals?: unknown;
  /** The secrets that are removed from errors and from messages to the logger: those of all globals, also of those that are not given here. */
  readonly secrets: Secrets;
  /** Names of the members of `globals` that expressions may read. Default: all. */
  readonly globalNames?: readonly string[] | null | undefined;
  /** Default: the clock of the environment. */
  readonly now?: (() => EpochMs) | undefined;
}

/** Options of one turn that a caller gives; see `TurnOptions`. */
export interface TurnRequest extends AttemptRequest {
  readonly concurrency?: number | undefined;
  readonly stepLimit?: number | undefined;
  readonly early?: string | null | undefined;
  readonly commit?: TurnOptions["commit"] | undefined;
  readonly deliver?: TurnOptions["deliver"] | undefined;
  readonly onEvent?: TurnOptions["onEvent"] | undefined;
}

/** All options of a turn. */
export interface TurnOptions {
  /** What all attempts of the turn have in common. */
  readonly performing: AttemptContext;
  /** The code of each node. */
  readonly prepared: ReadonlyMap<CompiledNode, PreparedNode>;
  /** Makes the runs of code; null if the workflow has no code, or this process does not have it. */
  readonly codeRuns: ((host: Omit<CodeRunsHost, "prepare" | "late">) => CodeRuns) | null;
  /** Returns what performs a step that undoes one that code has asked for. */
  readonly prepareUndo: (compiled: CompiledNode) => PreparedNode;
  /** The most tasks that run at the same time. */
  readonly concurrency: number;
  /** The most tasks that the turn performs. After them the turn ends, and another turn can continue the execution. */
  readonly stepLimit: number;
  readonly environment: Pick<Environment, "after" | "monotonicMs">;
  /** The clock that decides what is due. */
  readonly now: () => EpochMs;
  /** The address of one retry that is made before its time, such as `0.1@3` (path and turn); null for none. */
  readonly early: string | null;
  /** Called before each task is performed. */
  readonly onTask: ((task: Task, type: string) => void) | null;
  /** Called with the outcome of each task, before the outcome is applied. */
  readonly onOutcome: ((task: Task, type: string, outcome: Outcome) => void) | null;
  /**
   * Stores events before anything follows from them. Returns the stored snapshot if another commit was first, else null. The turn then
   * continues from that snapshot, and applies the outcomes whose tasks are still current. After the `last` commit the turn performs nothing
   * more.
   */
  readonly commit: ((events: readonly Event[], draft: Draft, last: boolean) => Promise<Snapshot | null>) | null;
  readonly onWarning: ((warning: Warning) => void) | null;
  /**
   * Delivers messages to other executions. Returns the ids of the messages that have arrived; these may be delivered again all the same.
   */
  readonly deliver: ((from: Draft) => Promise<readonly string[]>) | null;
  /** Called with each event once it is applied and, with `commit`, stored. */
  readonly onEvent: ((event: Event, draft: Draft) => void) | null;
}
