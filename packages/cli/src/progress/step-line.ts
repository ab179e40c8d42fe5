import type { CompletedEvent, FailedEvent, SuspendedEvent } from "stepfold";
import { countdownText, durationText } from "../text/duration-text.ts";
import { printable } from "../text/printable.ts";
import { waitsText } from "../text/wait-text.ts";
import { handleText, type LineStyle, stepLine } from "./line.ts";

/** Returns the line for a step that has completed. */
export function completedLine({ attempt, startedAt, at, handles, undoes }: CompletedEvent, address: string, style: LineStyle): string {
  const took = style.paint("quiet", durationText(at - startedAt));
  const parts = [
    undoes ? "undone" : "",
    attempt > 1 ? `attempt ${attempt}` : "",
    took,
    handleText(handles?.map((one) => printable(one)).join(", ")),
  ];
  return stepLine(undoes ? "↩" : "✔", "good", address, parts, style);
}

/** Returns the line for an attempt that has failed. */
export function failedLine(
  { attempt, startedAt, at, error, retryAt, handle, undoes }: FailedEvent,
  address: string,
  style: LineStyle,
): string {
  const next = retryAt === null ? handleText(handle) : style.paint("wait", `retry in ${countdownText(retryAt - at)}`);
  const took = style.paint("quiet", durationText(at - startedAt));
  return stepLine("✖", "bad", address, [undoes ? "to be undone" : "", `attempt ${attempt}`, took, printable(error.message), next], style);
}

/** Returns the line for a step that begins to wait. */
export function suspendedLine({ waits, at, undoes }: SuspendedEvent, address: string, style: LineStyle): string {
  const isTimer = waits.every(({ kind }) => kind === "timer");
  return stepLine(isTimer ? "⧗" : "⏸", "wait", address, [undoes ? "to be undone" : "", waitsText(waits, at)], style);
}
