import type { CompiledNode } from "../core/definition/compiled.ts";
import type { Event } from "../core/snapshot/event.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { Warning } from "../core/snapshot/warning.ts";
import type { Draft } from "../core/transition/draft/draft.ts";
import type { Task } from "../core/transition/plan.ts";
import type { EpochMs } from "../core/values/json.ts";
import type { Environment } from "../ports/environment.ts";
import type { AttemptContext } from "./attempt/attempt-state.ts";
import type { Outcome } from "./attempt/outcome.ts";
import type { PreparedNode } from "./workflow/prepared-node.ts";

/** What the attempts of one call are given. */
export interface AttemptRequest {
  readonly globals?: unknown;
  /** Where secrets are, that no text may show. Default: `globals`. */
  readonly secrets?: unknown;
  /** What expressions may read of `globals`. Default: everything. */
  readonly globalNames?: readonly string[] | null | undefined;
  /** Default: the clock of the environment. */
  readonly now?: (() => EpochMs) | undefined;
}

/** What one turn is given. */
export interface TurnRequest extends AttemptRequest {
  readonly concurrency?: number | undefined;
  readonly stepLimit?: number | undefined;
  readonly early?: string | null | undefined;
  readonly commit?: TurnOptions["commit"] | undefined;
  readonly deliver?: TurnOptions["deliver"] | undefined;
  readonly onEvent?: TurnOptions["onEvent"] | undefined;
}

/** How a turn is to be driven. */
export interface TurnOptions {
  readonly performing: AttemptContext;
  readonly prepared: ReadonlyMap<CompiledNode, PreparedNode>;
  /** Tasks of one execution under way at the same time. */
  readonly concurrency: number;
  /** Tasks to perform at most; then the turn ends, and the execution can go on in another. */
  readonly stepLimit: number;
  readonly environment: Pick<Environment, "after" | "monotonicMs">;
  /** The moment that decides what is due. */
  readonly now: () => EpochMs;
  /** A retry to make before its time: `pathId@turn`. */
  readonly early: string | null;
  /** Told before each task is performed. */
  readonly onTask: ((task: Task) => void) | null;
  readonly onOutcome: ((task: Task, outcome: Outcome) => void) | null;
  /**
   * Makes events durable before anything follows from them. Gives the snapshot that is stored if somebody else has
   * committed meanwhile: then the outcomes are applied to that one, where their tasks are still current.
   * After the `last` commit the turn performs nothing more.
   */
  readonly commit: ((events: readonly Event[], draft: Draft, last: boolean) => Promise<Snapshot | null>) | null;
  readonly onWarning: ((warning: Warning) => void) | null;
  /** Takes messages to other executions; gives the ids of those that have arrived, which may be sent again all the same. */
  readonly deliver: ((from: Draft) => Promise<readonly string[]>) | null;
  /** Told of each event once it holds. */
  readonly onEvent: ((event: Event, draft: Draft) => void) | null;
}
