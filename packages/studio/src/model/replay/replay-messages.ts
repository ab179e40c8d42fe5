import type { Event, Snapshot, WorkflowDefinition } from "stepfold/core";
import type { ExecutionState } from "./execution-state.ts";

/** What the page tells or asks the thread that folds. */
export type ReplayRequest =
  | { readonly type: "reset" }
  | { readonly type: "define"; readonly hash: string; readonly definition: WorkflowDefinition | null }
  | { readonly type: "add"; readonly events: readonly Event[] }
  | { readonly type: "state"; readonly request: number; readonly version: number }
  | { readonly type: "snapshot"; readonly request: number; readonly version: number };

/** What it answers. `problem`: the request failed. */
export type ReplayAnswer =
  | { readonly request: number; readonly state: ExecutionState | null }
  | { readonly request: number; readonly snapshot: Snapshot | null }
  | { readonly request: number; readonly problem: string };
