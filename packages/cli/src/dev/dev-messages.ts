import type { LiveMessage } from "@stepfold/server";
import type { Caller, RuntimeDescription } from "stepfold/runtime";

/** What the process that runs the executions is told, by the process that serves. */
export type ToWorker =
  | { readonly type: "begin"; readonly project: WorkerProject }
  /** Its code has loaded, and no other process runs executions any more: it may open the globals, and run what is due. */
  | { readonly type: "open" }
  /** A call of a runtime, made for somebody. */
  | { readonly type: "call"; readonly id: number; readonly call: WorkerCall }
  /** End: finish the steps under way for a moment, give the rest back. */
  | { readonly type: "stop" };

/** What the process that runs the executions tells. */
export type FromWorker =
  /** Its code gives way: it says so twice a second. `isDebugged`: a debugger can stop it. */
  | { readonly type: "beat"; readonly isDebugged: boolean }
  /** Its code can run; these are the workflows of files that it uses. It waits until it may open. */
  | { readonly type: "loaded"; readonly workflows: Readonly<Record<string, unknown>> }
  /** It runs what is due. */
  | { readonly type: "ready"; readonly description: RuntimeDescription }
  /** It cannot run: the config or the database is at fault. It ends. */
  | { readonly type: "failed"; readonly code: string; readonly message: string; readonly hint: string | null }
  /** The code that it has loaded, as absolute paths: when one of them changes, it is replaced. */
  | { readonly type: "files"; readonly paths: readonly string[] }
  /** Workflows in files that cannot run, with the reason. Their last good version is used, if there is one. */
  | { readonly type: "invalid"; readonly file: string; readonly message: string }
  /** What is probably a mistake in a workflow that can run. */
  | { readonly type: "doubted"; readonly file: string; readonly message: string }
  | { readonly type: "live"; readonly message: LiveMessage }
  | { readonly type: "problem"; readonly workflowId: string | null; readonly code: string; readonly message: string }
  | { readonly type: "answer"; readonly id: number; readonly answer: WorkerReply };

/** What is run. */
export interface WorkerProject {
  /** The URL of the database; it may contain a password. */
  readonly database: string | undefined;
  /** Absolute path of the config; null: there is none. */
  readonly config: string | null;
  /** Files of workflows, as absolute paths. */
  readonly workflows: readonly string[];
  /** The last good version of each of them. */
  readonly good: Readonly<Record<string, unknown>>;
  /** Another process with earlier code runs executions, and goes on with them if this one cannot use the good workflows. */
  readonly hasEarlier: boolean;
}

/** A call that needs the code of the nodes, or the workflows of the config. */
export interface WorkerCall {
  readonly caller: Caller;
  readonly method: "start" | "resume" | "signal" | "cancel" | "retry" | "restart";
  /** The id of the execution; of a start the id of the workflow. The options of a start always have the id of the execution. */
  readonly of: string;
  readonly args: readonly unknown[];
}

/** What a call has returned, or the error that it was refused with. */
export type WorkerReply =
  | { readonly value: unknown }
  /** `details` are those of a StepfoldError with this code. Null: another error. */
  | { readonly error: { readonly code: string; readonly details: object | null; readonly message: string } };
