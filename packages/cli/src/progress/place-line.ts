import type { ActivePath, EpochMs, PlaceInfo } from "stepfold";
import { countdownText, waitsPart } from "stepfold/core";
import { nextMove } from "../execution/status.ts";
import { printable } from "../text/printable.ts";
import { partText } from "./event-line.ts";
import { type LineStyle, stepLine } from "./line.ts";

/** The frames of the sign of a running step. */
const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;

/** Returns the sign of a place, by what its path does. */
export function signOf({ status, items, waits }: Pick<PlaceInfo, "status" | "items" | "waits">): string {
  if (status === "ready") return "●";
  if (status === "retrying") return "↻";
  if (status === "held" || status === "joining") return "…";
  if (items || waits.length === 0) return "⑂";
  return waits.every(({ kind }) => kind === "timer") ? "⧗" : "⏸";
}

/** Whether a path has a step that can run now. A path in an item that waits for room in its map is ready, but does nothing. */
export function isRunnable({ status, sentence }: Pick<PlaceInfo, "status" | "sentence">): boolean {
  return status === "ready" && !sentence.startsWith("waits");
}

/** Returns a line that says what a path is doing now. @param seenAt the time at which this visit was first seen */
export function placeLine(place: PlaceInfo, path: ActivePath, seenAt: EpochMs, now: EpochMs, style: LineStyle): string {
  const { address, status, sentence, waits } = place;
  const { attempts } = path;
  if (isRunnable(place)) {
    const frame = frames[Math.floor(now / frameMs) % frames.length]!;
    const attempt = attempts > 0 ? `attempt ${attempts + 1}` : "";
    const undone = path.undoes ? "is being undone" : "";
    return stepLine(frame, "wait", address, [undone, attempt, now - seenAt < 200 ? "" : countdownText(now - seenAt)], style);
  }
  if (status === "ready") return stepLine("…", "wait", address, [printable(sentence)], style);
  if (status === "retrying")
    return stepLine("↻", "wait", address, [`attempt ${attempts + 1}`, `in ${countdownText(nextMove(path) - now)}`], style);
  const sign = signOf(place);
  if (sign === "⧗") return stepLine(sign, "wait", address, [`goes on in ${countdownText(nextMove(path) - now)}`], style);
  return stepLine(
    sign,
    "wait",
    address,
    [sign === "⏸" ? partText(waitsPart(waits, now), style) : printable(sentence).replace(/^has /, "")],
    style,
  );
}
