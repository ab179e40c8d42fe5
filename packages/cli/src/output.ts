import type { EpochMs } from "stepfold";
import type { CommandContext } from "./execution/next-command.ts";
import { jsonProgress } from "./progress/json-progress.ts";
import { liveProgress } from "./progress/live-progress.ts";
import { plainProgress } from "./progress/plain-progress.ts";
import type { Progress } from "./progress/progress.ts";
import { foldText } from "./text/fold.ts";
import { paintFor } from "./text/paint.ts";
import { terminalText } from "./text/terminal.ts";

let readerGone = false;

/** Writes to standard output. If the reader has gone, the text is dropped: the work goes on, and the exit code tells the result. */
export function say(text: string): void {
  write(foldText(terminalText(text), process.stdout.columns));
}

/** Writes to standard error. */
export function complain(text: string): void {
  process.stderr.write(foldText(terminalText(text), process.stderr.columns));
}

function write(text: string): void {
  if (!readerGone) process.stdout.write(text);
}

/** Keeps a reader that leaves early (`| head`) from ending the process in the middle of its work. */
export function surviveLostReaders(): void {
  process.stdout.on("error", () => {
    readerGone = true;
  });
  process.stderr.on("error", () => undefined);
}

/** Resolves when everything that was written to standard output has left the process. */
export function flushed(): Promise<void> {
  return new Promise((resolve) => {
    if (readerGone || process.stdout.destroyed) resolve();
    else process.stdout.write("", () => resolve());
  });
}

/**
 * Chooses how progress is shown: as JSON, as plain lines, or as a live view on a terminal.
 *
 * @param now the time by the clock of the database
 */
export function chooseProgress(json: boolean, nodeWidth: number, context: CommandContext, now: () => EpochMs): Progress {
  if (json) return jsonProgress(say);
  const style = { paint: paintFor(process.stdout), nodeWidth };
  if (!process.stdout.isTTY || process.env.TERM === "dumb") return plainProgress(say, style);
  const every = (ms: number, tick: () => void): (() => void) => {
    const timer = setInterval(tick, ms);
    return () => clearInterval(timer);
  };
  // some terminals do not report their size
  const rows = (): number => process.stdout.rows || 24;
  return liveProgress({ write: (text) => write(terminalText(text)), say, now, rows, every }, context, style);
}
