import type { StepRequest } from "../node/asking.ts";
import type { Remembered } from "./journal.ts";
import { errorOfStep } from "./thrown-step.ts";

/** What the code gets of a result: the output, read by the schema that the code has given, or an error. */
export type ReadResult = { readonly value: unknown } | { readonly error: unknown };

/** Returns a promise only if the schema is asynchronous: a promise costs each step a turn of its own. */
export function readResult({ receive }: Pick<StepRequest, "receive">, { nodeId, result }: Remembered): ReadResult | Promise<ReadResult> {
  if (result.error !== undefined) return { error: errorOfStep(nodeId, result) };
  if (!receive) return { value: result.output };
  try {
    const value = receive(result.output);
    return value instanceof Promise ? value.then((read: unknown) => ({ value: read }), refusedWith) : { value };
  } catch (refused) {
    return refusedWith(refused);
  }
}

function refusedWith(error: unknown): ReadResult {
  return { error };
}
