import type { EpochMs } from "stepfold/core";
import type { StoppedVisit } from "../replay/execution-state.ts";
import type { TimeScale } from "./time-scale.ts";
import type { Bar, BarLine } from "./timeline-bars.ts";

/** A bar as it is drawn, as shares of the width. */
export interface DrawnBar {
  readonly kind: Bar["kind"];
  readonly left: number;
  readonly width: number;
  /** It goes on. */
  readonly isOpen: boolean;
  /** The number of bars that are drawn as this one. */
  readonly count: number;
  /** How long it lasts, from the begin of the first to the end of the last. */
  readonly ms: number;
}

/**
 * Adds what runs now to the lines: the begin of an attempt is no event, so it is drawn from the time at which the path arrived.
 *
 * @param running since when, by node
 */
export function withRunning(lines: readonly BarLine[], running: ReadonlyMap<string, EpochMs>): BarLine[] {
  const known = new Set(lines.map(({ nodeId }) => nodeId));
  const bar = (from: EpochMs): Bar => ({ kind: "running", from, to: null });
  return [
    ...lines.map((line) => {
      const from = running.get(line.nodeId);
      return from === undefined || line.bars.at(-1)?.to === null ? line : { ...line, bars: [...line.bars, bar(from)] };
    }),
    ...[...running].filter(([nodeId]) => !known.has(nodeId)).map(([nodeId, from]) => ({ nodeId, bars: [bar(from)], attempts: 1 })),
  ];
}

/** Adds what the end of the execution has stopped while it ran: no event tells of it. */
export function withStopped(lines: readonly BarLine[], stopped: readonly StoppedVisit[]): BarLine[] {
  const byNode = new Map<string, Bar[]>();
  for (const { nodeId, from, to, ran } of stopped)
    if (ran) byNode.set(nodeId, [...(byNode.get(nodeId) ?? []), { kind: "stopped", from, to }]);
  const known = new Set(lines.map(({ nodeId }) => nodeId));
  return [
    ...lines.map((line) => {
      const bars = byNode.get(line.nodeId);
      return bars ? { ...line, bars: [...line.bars, ...bars].sort((one, other) => one.from - other.from) } : line;
    }),
    ...[...byNode].filter(([nodeId]) => !known.has(nodeId)).map(([nodeId, bars]) => ({ nodeId, bars, attempts: bars.length })),
  ];
}

/** What `drawnBars` needs. */
export interface DrawnIn {
  readonly scale: TimeScale;
  /** Where bars that go on end. */
  readonly end: EpochMs;
  /** The width of the line in pixels. */
  readonly widthPx: number;
  /** The most bars of the line. */
  readonly most: number;
}

/**
 * Returns the bars of a line as they are drawn. Bars of one kind that follow each other within a pixel are drawn as one; if there are still
 * too many, those within two pixels, four, and so on.
 */
export function drawnBars({ bars }: BarLine, { scale, end, widthPx, most }: DrawnIn): DrawnBar[] {
  for (let gapPx = 1; ; gapPx *= 2) {
    const drawn = merged(bars, scale, end, gapPx / Math.max(1, widthPx));
    if (drawn.length <= most || gapPx > widthPx) return drawn.slice(-most);
  }
}

function merged(bars: readonly Bar[], scale: TimeScale, end: EpochMs, gap: number): DrawnBar[] {
  const drawn: DrawnBar[] = [];
  // a bar is merged with the last one of its kind, if nothing wider stands between them
  const last = new Map<Bar["kind"], number>();
  for (const { kind, from, to } of bars) {
    const left = scale.place(from);
    const right = scale.place(to ?? end);
    const index = last.get(kind);
    const before = index === undefined ? undefined : drawn[index];
    if (before && left - (before.left + before.width) <= gap && to !== null) {
      const width = Math.max(before.width, right - before.left);
      drawn[index!] = { ...before, width, count: before.count + 1, ms: before.ms + Math.max(0, to - from) };
      continue;
    }
    last.set(kind, drawn.length);
    drawn.push({ kind, left, width: Math.max(0, right - left), isOpen: to === null, count: 1, ms: Math.max(0, (to ?? end) - from) });
  }
  return drawn;
}
