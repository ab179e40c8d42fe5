import { FatalError } from "../node/fatal-error.ts";
import type { AttemptState } from "./attempt-state.ts";

/** The members of an output that say how the step has ended. They come from user code, so their types are not certain. */
interface Ending {
  readonly data?: unknown;
  readonly nextHandle?: unknown;
  readonly nextHandles?: unknown;
  readonly failure?: unknown;
}

/**
 * Fails a step that has ended by a handle which is a failure (`failures` of its type) and which no edge takes: the path would end there,
 * and the workflow would look completed. In a compensation no edge takes a handle.
 *
 * @throws FatalError with the code and message of the output's `failure`, and the output's data as details
 */
export function refuseFailures({ node, task }: AttemptState, { data, nextHandle, nextHandles, failure }: Ending): void {
  const { failures = [] } = node.definition;
  const isLost = (handle: string): boolean => {
    const isTaken = task.undoes === undefined && node.compiled.edges.has(handle);
    return !isTaken && (handle === nextHandle || (Array.isArray(nextHandles) && nextHandles.includes(handle)));
  };
  const lost = failures.find(isLost);
  if (lost === undefined) return;
  const { name = "HandleError", code = "HANDLE_FAILED", message } = (failure ?? {}) as Readonly<Record<string, string | undefined>>;
  const error = new FatalError(message ?? `The step has ended by "${lost}", which is a failure, and no edge leaves by it`, {
    details: data,
  });
  throw Object.assign(error, { name, code, stack: undefined });
}
