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

/** Returns a line that says what a path is doing now. @param seenAt the time at which this visit was first seen */
export function placeLine(place: PlaceInfo, path: ActivePath, seenAt: EpochMs, now: EpochMs, style: LineStyle): string {
  const { address, status, sentence, waits } = place;
  const { attempts } = path;
  // a path in an item that waits for room in its map is ready, but does nothing
  if (status === "ready" && sentence.startsWith("waits")) return stepLine("…", "wait", address, [printable(sentence)], style);
  if (status === "ready") {
    const frame = frames[Math.floor(now / frameMs) % frames.length]!;
    const attempt = attempts > 0 ? `attempt ${attempts + 1}` : "";
    const undone = path.undoes ? "is being undone" : "";
    return stepLine(frame, "wait", address, [undone, attempt, now - seenAt < 200 ? "" : countdownText(now - seenAt)], style);
  }
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
