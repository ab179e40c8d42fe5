import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Keys } from "./keys.ts";
import type { RunScript } from "./run-script.ts";
import type { Write } from "./write-args.ts";

/** What the parts of a store share. */
export interface ScriptStore {
  readonly name: string;
  readonly keys: Keys;
  readonly run: RunScript;
  /** How long the id of a deleted execution stays taken, as the scripts take it: whole milliseconds, `0` for not at all. */
  readonly retention: string;
  /** @throws StepfoldError `LIMIT_EXCEEDED` if the server would not take it */
  refuseOversize(write: Write): void;
}

/** An answer is no longer than this and one event, or the children of one execution: more of a history comes in further calls. */
export const budgetBytes = "1000000";

/** What is stored cannot be understood: somebody else wrote there, or the server dropped a part. */
export function damaged(store: string, workflowId: string): StepfoldError<"STORE_REJECTED"> {
  return new StepfoldError("STORE_REJECTED", { store, reason: `what is stored of execution "${workflowId}" is damaged` });
}
