import { type Context, createContext, use } from "react";
import type { Explanation, WaitInfo } from "stepfold/core";
import type { FormDrafts } from "../../form/form-drafts.ts";
import type { ExecutionModel } from "../../model/execution-model.ts";
import type { Holding } from "../../model/holding.ts";
import type { ExecutionState } from "../../model/replay/execution-state.ts";

/** What all parts of the page of an execution see. */
export interface ShownExecution {
  readonly model: ExecutionModel;
  /** Rises whenever the model has changed. */
  readonly revision: number;
  /** The version that is shown: the last one, or one of the past. */
  readonly version: number;
  /** A version of the past is shown: nothing acts. */
  readonly isPast: boolean;
  /** The state at this version. Null: it is not folded yet. */
  readonly state: ExecutionState | null;
  /** Null: it is not known at this version. */
  readonly explanation: Explanation | null;
  /** The open waits at this version, as far as they are listed. */
  readonly waits: readonly WaitInfo[];
  /** Who holds the execution now. Nobody does at a version of the past. */
  readonly holding: Holding;
  /** What was entered into the forms of the page. */
  readonly drafts: FormDrafts;
  /** The name of a node, for people. */
  readonly nameOf: (nodeId: string) => string;
}

/** Is given by the page of an execution. */
export const ShownContext: Context<ShownExecution | null> = createContext<ShownExecution | null>(null);

/** Returns what the page shows. */
export function useShown(): ShownExecution {
  const shown = use(ShownContext);
  // a part outside the page is a mistake of the program
  if (!shown) throw new TypeError("useShown: there is no ShownContext");
  return shown;
}
