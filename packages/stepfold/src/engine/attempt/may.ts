import { StepfoldError } from "../../core/errors/stepfold-error.ts";

/** What a definition wants to do to another execution. */
export interface ActionRequest {
  /** Nodes start executions (`workflow` with `detached`), and send signals (`sendSignal`) to one execution or to all that wait (`broadcast`). */
  readonly action: "start" | "signal" | "broadcast" | "read";
  /** The execution that asks, and the node in it. */
  readonly from: {
    readonly workflowId: string;
    readonly definition: { readonly id: string; readonly hash: string };
    readonly nodeId: string;
    /** Its definition was handed to `start`, and has no name here. */
    readonly unnamed: boolean;
  };
  /** Id of the workflow that the other execution runs. Absent for a signal: nobody has looked yet; of one to all: whatever they run. */
  readonly workflow?: string;
  /** Name of the signal. */
  readonly signal?: string;
  /** Of a signal to all that wait: its key. */
  readonly key?: string;
  /** Id of the other execution: chosen by the definition, or made for it. `*` for all that wait. */
  readonly id: string;
  readonly tenant: string | undefined;
}

/** Judges what a definition wants to do. Whatever is not true refuses, and so does an error. */
export type May = (request: ActionRequest) => boolean | Promise<boolean>;

/**
 * Gives `then` if the host allows it; true tells that it was asked.
 *
 * @throws StepfoldError `ACTION_DENIED`; a promise rejects with it
 */
export function ifAllowed<T>(may: May | null, request: ActionRequest, then: (isAsked: boolean) => T): T | Promise<T> {
  if (!may) return then(false);
  const judged = (verdict: unknown): T => {
    if (verdict === true) return then(true);
    throw denied(request, verdict === false ? "the host refuses it" : "the host gave no verdict");
  };
  let verdict: unknown;
  try {
    verdict = may(Object.freeze(request));
  } catch (cause) {
    throw denied(request, "the host could not judge it", cause);
  }
  if (!(verdict instanceof Promise)) return judged(verdict);
  return verdict.then(judged, (cause: unknown) => {
    throw denied(request, "the host could not judge it", cause);
  });
}

function denied({ action, workflow, id, from: { nodeId } }: ActionRequest, reason: string, cause?: unknown): StepfoldError {
  return new StepfoldError("ACTION_DENIED", { nodeId, action, ...(workflow !== undefined && { workflow }), id, reason }, { cause });
}
