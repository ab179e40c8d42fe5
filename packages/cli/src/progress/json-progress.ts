import { commandResult } from "../execution/result.ts";
import type { Progress } from "./progress.ts";

/**
 * Prints one JSON object per line: `{ type: "event", workflowId, status, event }` for each event, and
 * `{ type: "result", … }` at the end.
 */
export function jsonProgress(write: (text: string) => void): Progress {
  const line = (value: unknown): void => write(`${JSON.stringify(value)}\n`);
  return {
    begin: () => undefined,
    event: (event, { workflowId, status }) => line({ type: "event", workflowId, status, event }),
    note: () => undefined,
    end: ({ snapshot, waits, sentence, interrupted }) =>
      line({
        type: "result",
        ...commandResult(snapshot, waits, sentence),
        ...(interrupted === null ? {} : { interrupted: true, next: interrupted }),
      }),
    close: () => undefined,
  };
}
