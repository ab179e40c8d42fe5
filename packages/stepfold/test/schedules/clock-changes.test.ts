import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextTick } from "../../src/schedules/ticks.ts";

// Ticks of cron expressions around changes of the clocks, against a reference that looks at the clock of the zone in every minute.

const minuteMs = 60_000;
const hours = 60;

/** A minute that the clocks of a zone show, counted from 1970 as if the zone were UTC. */
type Shown = number;

/** Returns what the clocks of a zone show in each minute of the two days around a moment. */
function minutesAround(zone: string, around: string): { readonly at: number; readonly shown: Shown }[] {
  const format = new Intl.DateTimeFormat("sv", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  const first = Date.parse(around) - 24 * hours * minuteMs;
  return Array.from({ length: 48 * hours }, (_, i) => {
    const at = first + i * minuteMs;
    return { at, shown: Date.parse(`${format.format(at).replace(" ", "T")}Z`) / minuteMs };
  });
}

/** Every value of a field of a cron expression. */
function valuesOf(field: string, count: number): ReadonlySet<number> {
  const values = new Set<number>();
  for (const item of field.split(",")) {
    const [range = "", step = "1"] = item.split("/");
    const [from = 0, to = from] = range === "*" ? [0, count - 1] : range.split("-").map(Number);
    for (let value = from; value <= to; value += Number(step)) values.add(value);
  }
  return values;
}

/** The documented rule, applied minute by minute. */
function expectedTicks(cron: string, minutes: ReturnType<typeof minutesAround>): number[] {
  const [minute = "", hour = "", , , weekday = ""] = cron.split(" ");
  const [ofHour, ofDay, ofWeek] = [valuesOf(minute, 60), valuesOf(hour, 24), valuesOf(weekday, 7)];
  const fits = (shown: Shown): boolean =>
    ofHour.has(shown % 60) && ofDay.has(Math.floor(shown / 60) % 24) && ofWeek.has(new Date(shown * minuteMs).getUTCDay());
  const isEvery = ofHour.size === 60 || ofDay.size === 24;
  let latest = minutes[0]!.shown;
  return minutes.slice(1).flatMap(({ at, shown }) => {
    if (isEvery) return fits(shown) ? [at] : [];
    const passed = Array.from({ length: Math.max(0, shown - latest) }, (_, i) => latest + 1 + i);
    latest = Math.max(latest, shown);
    return passed.some(fits) ? [at] : [];
  });
}

function actualTicks(cron: string, zone: string, minutes: ReturnType<typeof minutesAround>): number[] {
  const ticks: number[] = [];
  const last = minutes.at(-1)!.at;
  for (let at = nextTick({ cron: [cron], zone }, minutes[0]!.at); at !== null && at <= last; at = nextTick({ cron: [cron], zone }, at))
    ticks.push(at);
  return ticks;
}

const range = (most: number): fc.Arbitrary<string> =>
  fc.tuple(fc.nat(most), fc.nat(most)).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
/** Any way to write values from 0 to `most`. Most of them are small, because clocks change at night. */
function fieldOf(most: number): fc.Arbitrary<string> {
  const one = fc.oneof(fc.nat(most), fc.nat(4)).map(String);
  const step = fc.integer({ min: 1, max: Math.ceil(most / 2) });
  const item = fc.oneof(
    one,
    one.map((value) => `${value}-${value}`),
    range(most),
    fc.tuple(range(most), step).map(([values, by]) => `${values}/${by}`),
    step.map((by) => `*/${by}`),
    fc.constantFrom("*", `0-${most}`),
  );
  return fc.oneof(
    item,
    fc.array(fc.oneof(one, range(most)), { minLength: 1, maxLength: 4 }).map((items) => items.join(",")),
  );
}

describe("where the clocks of a zone change", () => {
  it.each([
    ["America/New_York", "2026-03-08T07:00:00Z"],
    ["America/New_York", "2026-11-01T06:00:00Z"],
    ["Europe/Berlin", "2026-03-29T01:00:00Z"],
    ["Europe/Berlin", "2026-10-25T01:00:00Z"],
    // by half an hour
    ["Australia/Lord_Howe", "2026-10-03T15:30:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T15:00:00Z"],
    // from 23:00 to midnight, and back
    ["America/Nuuk", "2026-03-29T01:00:00Z"],
    ["America/Nuuk", "2026-10-25T01:00:00Z"],
    // from midnight to 01:00, and back
    ["America/Santiago", "2026-09-06T04:00:00Z"],
    ["America/Santiago", "2026-04-05T03:00:00Z"],
    // a whole day is left out
    ["Pacific/Apia", "2011-12-30T10:00:00Z"],
    ["UTC", "2026-03-29T01:00:00Z"],
  ])("in %s at %s, every cron expression ticks by the documented rule", (zone, change) => {
    const minutes = minutesAround(zone, change);
    fc.assert(
      fc.property(fieldOf(59), fieldOf(23), fc.constantFrom("*", "*", "0,6", "1-5"), (minute, hour, weekday) => {
        const cron = `${minute} ${hour} * * ${weekday}`;
        expect(actualTicks(cron, zone, minutes)).toEqual(expectedTicks(cron, minutes));
      }),
    );
  });

  it("two spellings of the same times tick alike", () => {
    const ticksOf = (cron: string, change: string): number[] =>
      actualTicks(cron, "America/New_York", minutesAround("America/New_York", change));
    for (const change of ["2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"]) {
      for (const same of [
        ["30 2 * * *", "30 2-2 * * *", "30,30 2 * * *", "30-30 2 * * *", "30-40/15 2 * * *", "0 30 2 * * *"],
        ["0,30 1,2 * * *", "*/30 1-2 * * *", "0-59/30 1-2/1 * * *", "0 0,30 1,2 * * *"],
        ["0 * * * *", "0 0-23 * * *", "0 */1 * * *", "0 0-11,12-23 * * *", "0 0-23/1 * * *", "@hourly"],
        ["* 1,2 * * *", "0-59 1-2 * * *", "*/1 1,2 * * *"],
      ])
        expect(new Set(same.map((cron) => ticksOf(cron, change).join()))).toHaveProperty("size", 1);
    }
  });

  it.each([
    ["30 2,14 * * *", "America/New_York", "2026-03-07T20:00:00Z", ["2026-03-08T07:00", "2026-03-08T18:30", "2026-03-09T06:30"]],
    ["15,45 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00", "2026-03-30T00:15", "2026-03-30T00:45"]],
    ["*/20 1 * * *", "America/New_York", "2026-11-01T05:00:00Z", ["2026-11-01T05:20", "2026-11-01T05:40", "2026-11-02T06:00"]],
    ["30 1,2 * * *", "America/New_York", "2026-11-01T06:10:00Z", ["2026-11-01T07:30", "2026-11-02T06:30"]],
    ["30 23 * * *", "America/Nuuk", "2026-03-28T12:00:00Z", ["2026-03-29T01:00", "2026-03-30T00:30"]],
    // every hour of that year: also in the hour that is there twice, though no time comes after it that fits
    ["30 30 0-23 1 11 * 2026", "America/New_York", "2026-11-01T06:00:00Z", ["2026-11-01T06:30:30", "2026-11-01T07:30:30"]],
    ["* * 1 1 11 * 2026", "America/New_York", "2026-11-01T06:59:58Z", ["2026-11-01T06:59:59"]],
  ])("%s in %s after %s", (cron, zone, after, expected) => {
    const rule = { cron: [cron], zone };
    let at: number | null = Date.parse(after);
    for (const text of expected) {
      at = nextTick(rule, at!);
      expect(new Date(at!).toISOString().slice(0, text.length)).toBe(text);
    }
    if (cron.endsWith(" 1 1 11 * 2026")) expect(nextTick(rule, at!)).toBeNull();
  });
});
