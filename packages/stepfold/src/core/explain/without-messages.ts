import type { ErrorInfo } from "../errors/error-info.ts";
import type { Wait } from "../snapshot/parts/wait.ts";
import type { ActivePath, ChildState, Context, Snapshot } from "../snapshot/snapshot.ts";
import { isJsonObject, type Json } from "../values/json.ts";

/**
 * Returns a snapshot without what people and code have written about failures: messages of errors, reasons of cancellations, and why answers
 * were refused. They may quote inputs and outputs. Codes, names and nodes stay. It serves to explain an execution to readers who may see how
 * it stands, but none of its data; results of steps and payloads are left as they are.
 */
export function withoutMessages(snapshot: Snapshot): Snapshot {
  const { parked, closing, compensations, childStates } = snapshot;
  return {
    ...withoutMessagesOfScope(snapshot),
    ...(parked && { parked: { ...parked, message: "" } }),
    ...(closing && { closing: withSilentError(closing) }),
    ...(compensations && {
      compensations: compensations.map((result) => (result.error === undefined ? result : { ...result, error: "" })),
    }),
    ...(childStates && {
      childStates: Object.fromEntries(Object.entries(childStates).map(([key, child]) => [key, withoutMessagesOfScope(child)])),
    }),
  };
}

function withoutMessagesOfScope<S extends Snapshot | ChildState>(scope: S): S {
  const { activePaths, context, ending } = scope;
  return {
    ...withSilentError(scope),
    activePaths: activePaths.map(silentPath),
    context: withoutReasonsOfRetries(context, activePaths),
    ...(ending && { ending: withSilentError(ending) }),
  };
}

function withSilentError<T extends { readonly error?: ErrorInfo | undefined }>(part: T): T {
  return part.error ? { ...part, error: silent(part.error) } : part;
}

function silent({ details: _, stack: __, ...error }: ErrorInfo): ErrorInfo {
  return { ...error, message: "", ...(error.cause && { cause: { ...silent(error.cause), item: error.cause.item } }) };
}

function silentPath(path: ActivePath): ActivePath {
  return path.waits ? { ...path, waits: path.waits.map(silentWait) } : path;
}

function silentWait(wait: Wait): Wait {
  const { kind, payload, refused } = wait;
  const failure = kind === "incident" && isJsonObject(payload) ? payload : null;
  return {
    ...wait,
    ...(failure && { payload: { ...failure, error: silent(failure.error as unknown as ErrorInfo) as unknown as Json } }),
    ...(refused && { refused: { ...refused, issues: [] } }),
  };
}

/** A path that is to be retried stands at a node whose last result is the failure. */
function withoutReasonsOfRetries(context: Context, paths: readonly ActivePath[]): Context {
  const nodes = paths.filter(({ status, nodeId }) => status === "retrying" && Object.hasOwn(context, nodeId)).map(({ nodeId }) => nodeId);
  if (nodes.length === 0) return context;
  const silenced = [...new Set(nodes)].map((nodeId) => {
    const results = context[nodeId]!;
    const last = results.at(-1);
    return [nodeId, last?.error === undefined ? results : [...results.slice(0, -1), { ...last, error: "" }]] as const;
  });
  return { ...context, ...Object.fromEntries(silenced) };
}
