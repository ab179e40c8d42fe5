import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cronMistake } from "./cron-rule.ts";
import { nextTick, type TickRule, withJitter } from "./ticks.ts";

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString().replace(".000Z", "Z"));
const ms = (text: string): number => Date.parse(text);
/** Returns the next ticks after a time. */
function ticks(rule: TickRule, after: string, count: number): (string | null)[] {
  const found: (string | null)[] = [];
  for (let at: number | null = ms(after); found.length < count; found.push(iso(at))) at = at && nextTick(rule, at);
  return found;
}
const newYork = (cron: string): TickRule => ({ cron: [cron], zone: "America/New_York" });

describe("where the clock jumps forward", () => {
  it("starts a tick of the hour that is not there at the time that it would have had", () => {
    expect(ticks(newYork("30 2 * * *"), "2027-03-13T12:00:00Z", 2)).toEqual(["2027-03-14T07:00:00Z", "2027-03-15T06:30:00Z"]);
    expect(ticks({ cron: ["15 2 * * *"], zone: "Australia/Lord_Howe" }, "2026-10-03T00:00:00Z", 1)).toEqual(["2026-10-03T15:30:00Z"]);
    expect(ticks({ cron: ["30 2 * * *"], zone: "Europe/Vienna" }, "2027-03-27T12:00:00Z", 2)).toEqual([
      "2027-03-28T01:00:00Z",
      "2027-03-29T00:30:00Z",
    ]);
  });

  it("ticks every hour, and every quarter, without a gap and without doubling", () => {
    expect(ticks(newYork("30 * * * *"), "2027-03-14T05:00:00Z", 3)).toEqual([
      "2027-03-14T05:30:00Z",
      "2027-03-14T06:30:00Z",
      "2027-03-14T07:30:00Z",
    ]);
    expect(ticks(newYork("*/15 * * * *"), "2027-03-14T06:40:00Z", 3)).toEqual([
      "2027-03-14T06:45:00Z",
      "2027-03-14T07:00:00Z",
      "2027-03-14T07:15:00Z",
    ]);
  });
});

describe("where the clock jumps back", () => {
  it("starts a tick of the hour that is there twice once, the first time", () => {
    expect(ticks(newYork("30 1 * * *"), "2026-10-31T12:00:00Z", 2)).toEqual(["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"]);
  });

  it("ticks every hour, and every quarter, in both of them", () => {
    expect(ticks(newYork("30 * * * *"), "2026-11-01T04:00:00Z", 4)).toEqual([
      "2026-11-01T04:30:00Z",
      "2026-11-01T05:30:00Z",
      "2026-11-01T06:30:00Z",
      "2026-11-01T07:30:00Z",
    ]);
    expect(ticks(newYork("*/15 * * * *"), "2026-11-01T05:40:00Z", 4)).toEqual([
      "2026-11-01T05:45:00Z",
      "2026-11-01T06:00:00Z",
      "2026-11-01T06:15:00Z",
      "2026-11-01T06:30:00Z",
    ]);
  });
});

describe("rules", () => {
  it("take the earliest of several expressions", () => {
    expect(ticks({ cron: ["0 9 * * *", "30 8 * * MON"], zone: "UTC" }, "2026-11-22T10:00:00Z", 3)).toEqual([
      "2026-11-23T08:30:00Z",
      "2026-11-23T09:00:00Z",
      "2026-11-24T09:00:00Z",
    ]);
  });

  it("know seconds, years, the last day and the nearest weekday", () => {
    const first = (cron: string): string | null => ticks({ cron: [cron] }, "2026-11-22T02:00:00Z", 1)[0]!;
    expect(first("*/20 * * * * *")).toBe("2026-11-22T02:00:20Z");
    expect(first("0 0 0 1 1 * 2030")).toBe("2030-01-01T00:00:00Z");
    expect(first("0 0 L * *")).toBe("2026-11-30T00:00:00Z");
    expect(first("0 0 15W * *")).toBe("2026-12-15T00:00:00Z");
    expect(first("@weekly")).toBe("2026-11-29T00:00:00Z");
  });

  it("never tick again where nothing can come", () => {
    for (const cron of ["0 0 30 2 *", "0 0 31 4 *", "* * * * * * 2020"])
      expect(nextTick({ cron: [cron] }, ms("2026-11-22T00:00:00Z"))).toBeNull();
    expect(nextTick({ at: 5_000 }, 5_000)).toBeNull();
    expect(nextTick({ at: 5_000 }, 4_999)).toBe(5_000);
    expect(nextTick({ every: 8.64e15 }, 1)).toBe(8.64e15);
    expect(nextTick({ every: 8.64e15 }, 8.64e15)).toBeNull();
  });

  it("hold intervals to multiples since 1970, whenever they began", () => {
    expect(ticks({ every: 600_000, offset: 60_000 }, "2026-11-22T02:00:00Z", 2)).toEqual(["2026-11-22T02:01:00Z", "2026-11-22T02:11:00Z"]);
    expect(ticks({ every: 600_000 }, "2026-11-22T02:00:00Z", 1)).toEqual(["2026-11-22T02:10:00Z"]);
  });

  it("tick neither before startAt nor after endAt, both inclusive", () => {
    const rule = { every: 60_000, startAt: ms("2026-11-22T02:05:00Z"), endAt: ms("2026-11-22T02:06:30Z") };
    expect(ticks(rule, "2026-11-22T02:00:00Z", 3)).toEqual(["2026-11-22T02:05:00Z", "2026-11-22T02:06:00Z", null]);
  });
});

describe("every rule", () => {
  const rules = fc.oneof(
    fc.record({ every: fc.integer({ min: 1_000, max: 10 ** 9 }), offset: fc.integer({ min: 0, max: 10 ** 9 }) }),
    fc.record({
      cron: fc.tuple(
        fc.constantFrom("0 2 * * *", "*/7 * * * *", "30 1,2 * * SUN", "15 10 15W * *", "0 0 29 2 *", "59 23 L 2 *", "*/13 * * * * *"),
      ),
      zone: fc.constantFrom("UTC", "Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia"),
    }),
  );
  const times = fc.integer({ min: ms("2015-01-01T00:00:00Z"), max: ms("2040-01-01T00:00:00Z") });

  it("gives a tick after the time that it is asked about, the same one each time, and none in between", () => {
    fc.assert(
      fc.property(rules, times, fc.double({ min: 0, max: 1, noNaN: true }), (rule, after, share) => {
        const next = nextTick(rule, after)!;
        expect(next).toBeGreaterThan(after);
        expect(nextTick(rule, after)).toBe(next);
        const between = Math.floor(after + share * (next - 1 - after));
        expect(nextTick(rule, between)).toBe(next);
      }),
    );
  });

  it("begins a tick with jitter before the next one, the same time on every machine", () => {
    fc.assert(
      fc.property(rules, times, fc.integer({ min: 0, max: 10 ** 8 }), fc.string(), (rule, after, jitterMs, name) => {
        const at = nextTick(rule, after)!;
        const beginsAt = withJitter(rule, at, jitterMs, name);
        expect(beginsAt).toBeGreaterThanOrEqual(at);
        expect(beginsAt).toBeLessThanOrEqual(at + jitterMs);
        expect(beginsAt).toBeLessThan(nextTick(rule, at)!);
        expect(withJitter(rule, at, jitterMs, name)).toBe(beginsAt);
      }),
    );
  });
});

describe("a cron expression from outside", () => {
  it.each([
    "",
    "x",
    "* * * *",
    "60 * * * *",
    "0 0 * * 5#6",
    "* * * * * * * *",
    "2026-12-24T20:00:00",
    "@reboot",
    "@every 5m",
    `${"1,".repeat(200)}1 * * * *`,
    "0 0 0 0 0",
    "* * * * *\n",
    "*/0 * * * *",
    "5-1 * * * *",
  ])("is refused, with a reason: %j", (cron) => {
    expect(cronMistake(cron)).toMatch(/./);
  });

  it("is refused or understood, and never takes long", () => {
    const field = fc.stringMatching(/^[A-Z0-9*,/\-#?+]{1,12}$/);
    fc.assert(
      fc.property(fc.array(field, { minLength: 5, maxLength: 7 }), (fields) => {
        const cron = fields.join(" ");
        if (cronMistake(cron)) return;
        const began = performance.now();
        nextTick({ cron: [cron], zone: "Europe/Vienna" }, ms("2026-11-22T02:00:00Z"));
        expect(performance.now() - began).toBeLessThan(2_000);
      }),
    );
  });
});
