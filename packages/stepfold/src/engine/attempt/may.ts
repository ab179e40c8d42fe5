import { StepfoldError } from "../../core/errors/stepfold-error.ts";

/** An action that a definition wants to perform on another execution. */
export interface ActionRequest {
  /**
   * The kind of action: nodes start executions (`workflow` with `detached`), send signals (`sendSignal`) to one execution or to all that
   * wait for the signal (`broadcast`), and let their own execution go on with its next run (`continueAs`). Nodes cannot read other
   * executions.
   */
  readonly action: "start" | "signal" | "broadcast" | "continueAs";
  /** The execution that asks, and the node in it. */
  readonly from: {
    readonly workflowId: string;
    readonly definition: { readonly id: string; readonly hash: string };
    readonly nodeId: string;
    /** True if the definition was passed to `start` as a value, and is not one of the named workflows of the host. */
    readonly unnamed: boolean;
  };
  /**
   * For `start`, the id of the workflow that the new execution runs; for `continueAs`, that of the execution itself. For `broadcast`, only executions of this workflow get the signal;
   * absent: executions of all workflows. Absent for `signal`, because the receiver has not been read yet.
   */
  readonly workflow?: string;
  /** Name of the signal. */
  readonly signal?: string;
  /** The key of the signal, for `broadcast`. */
  readonly key?: string;
  /** Id of the other execution, chosen by the definition or made for it. `*` for `broadcast`; for `continueAs` the execution itself. */
  readonly id: string;
  /** The tenant of the execution that asks; undefined if it has none. */
  readonly tenant: string | undefined;
}

/** Decides whether a definition may perform an action. Only `true` allows it; any other value, an error or a rejection denies it. */
export type ActionPolicy = (request: ActionRequest) => boolean | Promise<boolean>;

/**
 * Returns the result of `then` if the host allows the action. `then` gets true if the host was asked, and false if there is no `may`.
 *
 * @throws StepfoldError `ACTION_DENIED`; a promise rejects with it
 */
export function ifAllowed<T>(may: ActionPolicy | null, request: ActionRequest, then: (wasAsked: boolean) => T): T | Promise<T> {
  if (!may) return then(false);
  const judged = (verdict: unknown): T => {
    if (verdict === true) return then(true);
    throw denied(
      request,
      verdict === false
        ? "the function `may` of the host does not allow it"
        : "the function `may` of the host returned neither true nor false",
    );
  };
  let verdict: unknown;
  try {
    verdict = may(Object.freeze(request));
  } catch (cause) {
    throw denied(request, "the function `may` of the host has failed", cause);
  }
  if (!(verdict instanceof Promise)) return judged(verdict);
  return verdict.then(judged, (cause: unknown) => {
    throw denied(request, "the function `may` of the host has failed", cause);
  });
}

function denied({ action, workflow, id, from: { nodeId } }: ActionRequest, reason: string, cause?: unknown): StepfoldError {
  return new StepfoldError("ACTION_DENIED", { nodeId, action, ...(workflow !== undefined && { workflow }), id, reason }, { cause });
}
