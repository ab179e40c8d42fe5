import type { EpochMs } from "../core/values/json.ts";
import { lastMs } from "../core/values/timestamp.ts";

/** A change of the clocks of a zone. Offsets are milliseconds that the clocks are ahead of UTC. */
export interface ClockChange {
  /** The first moment with the new offset. */
  readonly at: EpochMs;
  readonly before: number;
  readonly after: number;
}

const secondMs = 1_000;
/** Clocks are put forward or back by a day at most, and are less than a day away from UTC. */
const reachMs = 48 * 60 * 60 * secondMs;
const zoneForm = /^[A-Za-z0-9_+\-/]{1,60}$/;
/** The most clocks that are kept, because making one takes long. */
const maxClocks = 100;
const clocks = new Map<string, ZoneClock>();
/** The most spans of time whose offsets a clock keeps, because finding them takes long. */
const maxSpans = 1_000;

/** True for the name of a time zone that there is. */
export function isZone(zone: unknown): zone is string {
  if (typeof zone !== "string" || !zoneForm.test(zone)) return false;
  try {
    zoneClock(zone);
    return true;
  } catch {
    return false;
  }
}

/** Returns the clock of a time zone. @throws RangeError if there is no such zone */
export function zoneClock(zone: string): ZoneClock {
  const kept = clocks.get(zone);
  if (kept) return kept;
  const made = new ZoneClock(zone);
  if (clocks.size >= maxClocks) clocks.clear();
  clocks.set(zone, made);
  return made;
}

/** The clocks of a time zone. What they show is given as the moment at which UTC shows the same. */
export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;
  /** The offset, or the change of it, in each span of two days and the two spans beside it. */
  readonly #spans = new Map<number, ClockChange>();

  constructor(zone: string) {
    const [date, time] = ["numeric", "2-digit"] as const;
    this.#format = new Intl.DateTimeFormat("en-US", {
      ...{ timeZone: zone, calendar: "gregory", numberingSystem: "latn", hourCycle: "h23" },
      ...{ year: date, month: date, day: date, hour: time, minute: time, second: time },
    });
  }

  /** Returns how many milliseconds the clocks are ahead of UTC. */
  offsetAt(at: EpochMs): number {
    const { at: changesAt, before, after } = this.#around(at);
    return at < changesAt ? before : after;
  }

  /** Returns the change within two days of a moment, and at most four; null if there is none. */
  changeNear(at: EpochMs): ClockChange | null {
    const found = this.#around(at);
    return found.before === found.after ? null : found;
  }

  /**
   * Returns the first moment at which the clocks show this time or a later one. So a time that is there twice is the first of the two, and a
   * time that is left out is the change of the clocks.
   */
  firstAt(shown: EpochMs): EpochMs {
    const { at, before, after } = this.#around(shown);
    const early = shown - before;
    return early < at ? early : Math.max(at, shown - after);
  }

  /** Returns the latest time that the clocks have shown by a moment, in whole milliseconds. */
  latestShownBy(moment: EpochMs): EpochMs {
    const { at, before, after } = this.#around(moment);
    return moment < at ? moment + before : Math.max(moment + after, at + before - 1);
  }

  #around(at: EpochMs): ClockChange {
    const index = Math.floor(at / reachMs);
    const kept = this.#spans.get(index);
    if (kept) return kept;
    const found = this.#search((index - 1) * reachMs, (index + 2) * reachMs);
    if (this.#spans.size >= maxSpans) this.#spans.clear();
    this.#spans.set(index, found);
    return found;
  }

  /** Searches for the change between two moments. If there is none, both offsets are the same. */
  #search(from: EpochMs, to: EpochMs): ClockChange {
    let [low, high] = [from, to];
    const [before, after] = [this.#read(low), this.#read(high)];
    while (before !== after && high - low > secondMs) {
      const middle = Math.floor((low + high) / 2 / secondMs) * secondMs;
      if (this.#read(middle) === before) low = middle;
      else high = middle;
    }
    return { at: high, before, after };
  }

  #read(at: EpochMs): number {
    const second = Math.min(Math.max(at, 0), lastMs - reachMs);
    const parts = Object.fromEntries(this.#format.formatToParts(second).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(parts.year!, parts.month! - 1, parts.day, parts.hour, parts.minute, parts.second) - second;
  }
}
