import { type Trail, trail } from "stepfold/core";
import { eventLines } from "./event-line.ts";
import type { LineStyle } from "./line.ts";
import { headline, outcomeText } from "./outcome-text.ts";
import type { Progress } from "./progress.ts";

/** Prints every event in lines of its own: for logs, pipes and CI. */
export function plainProgress(write: (text: string) => void, style: LineStyle): Progress {
  let places: Trail = trail();
  return {
    begin(snapshot, existed) {
      places = trail(snapshot);
      write(`${headline(snapshot, existed, style.paint)}\n`);
    },
    event(event, snapshot) {
      for (const line of eventLines(event, { trail: places, style, after: snapshot })) write(`${line}\n`);
    },
    note: (text) => write(`… ${text}\n`),
    end: (outcome) => write(outcomeText(outcome, style.paint)),
    close: () => undefined,
  };
}
