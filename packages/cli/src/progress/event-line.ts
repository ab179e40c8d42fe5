import type { CompletedEvent, Event, FailedEvent, ResumedEvent, Snapshot, SuspendedEvent } from "stepfold";
import { countdownText, durationText } from "./duration-text.ts";
import type { Paint } from "./paint.ts";
import { printable, printableJson } from "./printable.ts";
import { waitText } from "./wait-text.ts";

/** How lines look. */
export interface LineStyle {
  readonly paint: Paint;
  /** Width of the column of node ids. */
  readonly nodeWidth: number;
}

/** One line for an event, as plain text with colours; null for what another line says already. */
export function eventLine(event: Event, snapshot: Pick<Snapshot, "activePaths">, style: LineStyle): string | null {
  switch (event.type) {
    case "started":
      return null;
    case "completed":
      return completedLine(event, style);
    case "failed":
      return failedLine(event, style);
    case "suspended":
      return suspendedLine(event, style);
    case "resumed":
      return resumedLine(event, snapshot, style);
    case "timedOut":
      return stepLine("✖", "bad", event.nodeId, ["nobody answered in time", wayOut(event.handle)], style);
    case "retried":
      return stepLine("↻", "wait", nodeOf(snapshot, event.pathId), ["is retried at once"], style);
    case "cancelled":
      return stepLine("■", "bad", "cancelled", [event.reason === undefined ? "" : printable(event.reason)], style);
    case "spawned": {
      const { workflow, map } = event.children;
      return stepLine("⑂", "quiet", event.nodeId, [map ? `${map.items.length} × ${workflow}` : workflow], style);
    }
    case "signalled":
      return stepLine(
        "▶",
        "quiet",
        "signal",
        [printable(event.name), event.payload === undefined ? "" : printableJson(event.payload)],
        style,
      );
    case "itemAdded":
      return stepLine("+", "quiet", nodeOf(snapshot, event.pathId), ["gets an item"], style);
    case "mapClosed":
      return stepLine("■", "quiet", nodeOf(snapshot, event.pathId), ["gets no more items"], style);
  }
}

/** `✔ charge  attempt 3  12 ms`: sign, node, and whatever there is to say. */
export function stepLine(
  sign: string,
  meaning: "good" | "bad" | "wait" | "quiet",
  nodeId: string,
  parts: readonly (string | null)[],
  { paint, nodeWidth }: LineStyle,
): string {
  const told = parts.filter((part) => part !== null && part !== "").join("  ");
  return `${paint(meaning, sign)} ${told ? `${nodeId.padEnd(nodeWidth)}  ${told}` : nodeId}`;
}

function completedLine({ nodeId, attempt, startedAt, at, handles }: CompletedEvent, style: LineStyle): string {
  const parts = [attempt > 1 ? `attempt ${attempt}` : "", style.paint("quiet", durationText(at - startedAt)), wayOut(handles?.join(", "))];
  return stepLine("✔", "good", nodeId, parts, style);
}

function failedLine({ nodeId, attempt, startedAt, at, error, retryAt, handle }: FailedEvent, style: LineStyle): string {
  const next = retryAt === null ? wayOut(handle) : style.paint("wait", `retry in ${countdownText(retryAt - at)}`);
  const took = style.paint("quiet", durationText(at - startedAt));
  return stepLine("✖", "bad", nodeId, [`attempt ${attempt}`, took, printable(error.message), next], style);
}

function suspendedLine({ nodeId, waits, at }: SuspendedEvent, style: LineStyle): string {
  const isTimer = waits.every(({ kind }) => kind === "timer");
  return stepLine(isTimer ? "⧗" : "⏸", "wait", nodeId, [waits.map((wait) => waitText(wait, at)).join("; ")], style);
}

function resumedLine(event: ResumedEvent, snapshot: Pick<Snapshot, "activePaths">, style: LineStyle): string {
  const { by, who, payload, pathId } = event;
  const told =
    by === "timer"
      ? "the time has come"
      : `is answered${who === undefined ? "" : ` by ${printable(who)}`}${payload === undefined ? "" : `: ${printableJson(payload)}`}`;
  return stepLine("▶", "quiet", nodeOf(snapshot, pathId), [told], style);
}

function wayOut(handle: string | undefined): string {
  return handle === undefined || handle === "" ? "" : `→ ${printable(handle)}`;
}

function nodeOf({ activePaths }: Pick<Snapshot, "activePaths">, pathId: string): string {
  return activePaths.find(({ id }) => id === pathId)?.nodeId ?? pathId;
}
