import type { ActivePath, EpochMs } from "stepfold";
import { nextMove } from "../standing.ts";
import { countdownText } from "./duration-text.ts";
import { type LineStyle, stepLine } from "./event-line.ts";
import { waitText } from "./wait-text.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;

/** What a path is doing at this moment. @param seenAt when it was first seen doing it */
export function pathLine(path: ActivePath, seenAt: EpochMs, now: EpochMs, style: LineStyle): string {
  const { status, nodeId, attempts, waits = [] } = path;
  if (status === "ready") {
    const frame = frames[Math.floor(now / frameMs) % frames.length]!;
    const attempt = attempts > 0 ? `attempt ${attempts + 1}` : "";
    return stepLine(frame, "wait", nodeId, [attempt, now - seenAt < 200 ? "" : countdownText(now - seenAt)], style);
  }
  if (status === "retrying")
    return stepLine("↻", "wait", nodeId, [`attempt ${attempts + 1}`, `in ${countdownText(nextMove(path) - now)}`], style);
  if (waits.every(({ kind }) => kind === "timer"))
    return stepLine("⧗", "wait", nodeId, [`goes on in ${countdownText(nextMove(path) - now)}`], style);
  return stepLine("⏸", "wait", nodeId, [waits.map((wait) => waitText(wait, now)).join("; ")], style);
}
