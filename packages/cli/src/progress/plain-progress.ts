import { eventLine, type LineStyle } from "./event-line.ts";
import { headline, outcomeText } from "./outcome-text.ts";
import type { Progress } from "./progress.ts";

/** One line per event: for logs, pipes and CI. */
export function plainProgress(write: (text: string) => void, style: LineStyle): Progress {
  return {
    begin: (snapshot, existed) => write(`${headline(snapshot, existed, style.paint)}\n`),
    event(event, snapshot) {
      const line = eventLine(event, snapshot, style);
      if (line !== null) write(`${line}\n`);
    },
    note: (text) => write(`… ${text}\n`),
    end: (outcome) => write(outcomeText(outcome, style.paint)),
    close: () => undefined,
  };
}
