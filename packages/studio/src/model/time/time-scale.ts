import type { EpochMs } from "stepfold/core";

/** A span without anything in it that is drawn narrow. */
interface Fold {
  /** Where it begins and ends, as a share of the width. */
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

/** Places times on a line. */
export interface TimeScale {
  /** Where a time lies, as a share of the width from 0 to 1. Times outside lie at the ends. */
  place(at: EpochMs): number;
  readonly folds: readonly Fold[];
  /** Times for an axis, at round steps and at least `minPx` apart. */
  ticks(widthPx: number, minPx: number): readonly EpochMs[];
}

/** The share of the width that a fold takes, and the most folds. */
const foldShare = 0.045;
const maxFolds = 4;
/** A gap is folded if it is so many times as long as all that is not folded. */
const foldFactor = 3;
/** Shorter gaps are never folded. */
const minFoldMs = 10_000;
/** The steps between ticks, in milliseconds. */
const steps: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3_600_000),
  ...[1, 2, 7, 14, 30, 90, 365, 3_650].map((days) => days * 86_400_000),
];

/** A part of the line in which time passes evenly. */
interface Part {
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly left: number;
  readonly width: number;
  readonly isFold: boolean;
}

/**
 * Makes a scale over a span of time. Long times in which nothing happens are folded, so that what happens keeps its room.
 *
 * @param moments when something happened, in any order
 * @param used the share of the width that the span takes. Default 1
 */
export function timeScale(moments: Iterable<EpochMs>, from: EpochMs, to: EpochMs, used = 1): TimeScale {
  const end = Math.max(to, from + 1);
  const parts = partsOf(gapsToFold(moments, from, end), from, end, used);
  return {
    place: (at) => positionIn(parts, at),
    folds: parts
      .filter(({ isFold }) => isFold)
      .map(({ left, width, ...part }) => ({ from: left, to: left + width, ms: part.to - part.from })),
    ticks: (widthPx, minPx) => parts.filter(({ isFold }) => !isFold).flatMap((part) => ticksOf(part, widthPx, minPx)),
  };
}

/** The longest gaps, as long as each is much longer than everything that is left. */
function gapsToFold(moments: Iterable<EpochMs>, from: EpochMs, end: EpochMs): { readonly from: EpochMs; readonly to: EpochMs }[] {
  const times = [...new Set([from, ...moments, end])].filter((at) => at >= from && at <= end).sort((a, b) => a - b);
  const gaps = times.slice(1).map((to, index) => ({ from: times[index]!, to }));
  gaps.sort((a, b) => b.to - b.from - (a.to - a.from));
  let rest = end - from;
  const folded: typeof gaps = [];
  for (const gap of gaps.slice(0, maxFolds)) {
    const length = gap.to - gap.from;
    rest -= length;
    if (length < minFoldMs || length < foldFactor * rest || rest === 0) break;
    folded.push(gap);
  }
  return folded.sort((a, b) => a.from - b.from);
}

function partsOf(folds: readonly { readonly from: EpochMs; readonly to: EpochMs }[], from: EpochMs, end: EpochMs, used: number): Part[] {
  const openMs = end - from - folds.reduce((sum, fold) => sum + fold.to - fold.from, 0);
  const openShare = used - folds.length * foldShare;
  const parts: Part[] = [];
  let [at, left] = [from, 0];
  const add = (to: EpochMs, width: number, isFold: boolean): void => {
    if (to > at) parts.push({ from: at, to, left, width, isFold });
    left += width;
    at = to;
  };
  for (const fold of folds) {
    add(fold.from, (openShare * (fold.from - at)) / openMs, false);
    add(fold.to, foldShare, true);
  }
  add(end, openMs === 0 ? 0 : (openShare * (end - at)) / openMs, false);
  return parts;
}

function positionIn(parts: readonly Part[], at: EpochMs): number {
  const part = parts.find(({ to }) => at <= to) ?? parts.at(-1)!;
  const share = (Math.min(Math.max(at, part.from), part.to) - part.from) / (part.to - part.from);
  return Math.min(1, part.left + share * part.width);
}

function ticksOf({ from, to, width }: Part, widthPx: number, minPx: number): EpochMs[] {
  const partPx = width * widthPx;
  if (partPx < minPx / 2) return [];
  const most = Math.max(1, Math.floor(partPx / minPx));
  const step = steps.find((one) => (to - from) / one <= most) ?? steps.at(-1)!;
  // the steps of days begin at midnight where the reader is
  const shift = new Date(from).getTimezoneOffset() * 60_000;
  const ticks: EpochMs[] = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at < to && ticks.length <= most; at += step) ticks.push(at);
  return ticks;
}
