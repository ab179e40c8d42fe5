import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asUtc, judgeTimestamp, lacksOffset, lastMs, readTimestamp } from "../../../src/core/values/timestamp.ts";
import { formats } from "../../../src/engine/schema/formats.ts";

const isDateTime = formats.get("date-time")!;
const two = (value: number): string => String(value).padStart(2, "0");
/** A whole date and time of RFC 3339, and the moment that it is. */
const written = fc
  .record({
    at: fc.integer({ min: Date.UTC(1000, 0, 1), max: Date.UTC(9998, 0, 1) }),
    separator: fc.constantFrom("T", "t", " "),
    fraction: fc.stringMatching(/^\d{0,20}$/),
    offset: fc.oneof(fc.constantFrom("Z", "z", "-00:00"), fc.integer({ min: -1439, max: 1439 })),
  })
  .map(({ at, separator, fraction, offset }) => {
    const second = Math.floor(at / 1000) * 1000;
    const minutes = typeof offset === "number" ? offset : 0;
    const shown = new Date(second + minutes * 60_000).toISOString();
    const zone = `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
    const end = `${fraction === "" ? "" : `.${fraction}`}${typeof offset === "number" ? zone : offset}`;
    return {
      text: `${shown.slice(0, 10)}${separator}${shown.slice(11, 19)}${end}`,
      at: second + Number(fraction.slice(0, 3).padEnd(3, "0")),
    };
  });

describe("a moment as text", () => {
  it("is read in every form of RFC 3339, and the schema format accepts the same", () => {
    fc.assert(
      fc.property(written, ({ text, at }) => {
        expect([text, readTimestamp(text), judgeTimestamp(text)]).toEqual([text, at, Math.max(0, at)]);
        expect([text, isDateTime(text), lacksOffset(text)]).toEqual([text, true, false]);
      }),
    );
  });

  it("is read if the schema format accepts it, however odd it is", () => {
    const odd = fc.stringMatching(/^\d{4}-[01]\d-[0-3]\d[Tt ][0-2]\d:[0-6]\d:[0-6]\d(\.\d{1,3})?([Zz]|[+-][0-2]\d:[0-6]\d)$/);
    fc.assert(
      fc.property(fc.oneof(odd, fc.string()), (text) => {
        if (isDateTime(text)) expect(typeof judgeTimestamp(text)).toBe("number");
      }),
      { numRuns: 1_000 },
    );
  });

  it("that a Date writes is read as that date, up to the last one", () => {
    const any = fc.integer({ min: -lastMs, max: lastMs });
    fc.assert(
      fc.property(any, (at) => {
        expect(readTimestamp(new Date(at).toISOString())).toBe(at);
      }),
    );
    for (const at of [-lastMs, lastMs, Date.UTC(-1, 0, 1)]) expect(readTimestamp(new Date(at).toISOString())).toBe(at);
    expect(readTimestamp("+275760-09-13T00:00:00.001Z")).toBeUndefined();
    expect(readTimestamp("+300000-01-01")).toBeUndefined();
  });

  it.each<[string, string]>([
    ["2026-03-06", "2026-03-06T00:00:00Z"],
    ["2026-03-06T09:00Z", "2026-03-06T09:00:00Z"],
    // as PostgreSQL writes it
    ["2026-03-06 09:00:00+00", "2026-03-06T09:00:00Z"],
    ["2026-03-05 16:00:00+01", "2026-03-05T15:00:00Z"],
    ["2026-03-05 16:00:00.283185-0930", "2026-03-06T01:30:00.283Z"],
    ["2026-03-05T16:00:00,5+01:00", "2026-03-05T15:00:00.500Z"],
    ["2026-12-31T23:59:60Z", "2027-01-01T00:00:00Z"],
    ["2026-12-31T23:59:60.25Z", "2027-01-01T00:00:00.250Z"],
    ["1998-12-31T15:59:60-08:00", "1999-01-01T00:00:00Z"],
    ["0050-01-01", "0050-01-01T00:00:00Z"],
    ["0000-02-29T00:00:00Z", "0000-02-29T00:00:00Z"],
    ["2024-02-29T23:59:59+23:59", "2024-02-29T00:00:59Z"],
  ])("%s is %s", (text, iso) => expect(readTimestamp(text)).toBe(Date.parse(iso)));

  it.each([
    ...["2026-02-30", "2026-02-29T09:00Z", "2026-13-01", "2026-00-01", "2026-01-00", "1900-02-29"],
    ...["2026-01-01T24:00Z", "2026-01-01T24:01Z", "2026-01-01T00:60Z", "2026-01-01T00:00:61Z"],
    ...["2026-01-01T00:00:60Z", "2026-12-31T23:58:60Z", "2026-12-31T23:59:60+01:00"],
    ...["2026-01-01T00:00+99:00", "2026-01-01T00:00+24:00", "2026-01-01T00:00+00:60", "2026-01-01T00:00+1", "2026-01-01T00:00+011"],
    ...["2026-01-01Z", "2026-01-01T09Z", "2026-01-01 T09:00Z", "2026-01-01  09:00Z", "2026-01-01\t09:00Z", "2026-01-01_09:00Z"],
    ...[" 2026-01-01", "2026-01-01T09:00:00.Z", "2026-1-1", "26-01-01", "20260101T090000Z", "2026-W10-5", "٢٠٢٦-01-01"],
    ...["", "tomorrow", "1767225600000", "Fri, 06 Mar 2026 09:00:00 GMT"],
  ])("%j is none", (text) => {
    expect([readTimestamp(text), readTimestamp(text, asUtc), isDateTime(text), lacksOffset(text)]).toEqual([
      undefined,
      undefined,
      false,
      false,
    ]);
    expect(judgeTimestamp(text)).toContain("must be a time that exists");
  });

  it.each(["2026-03-06T09:00", "2026-03-06 09:00:00.5", "2026-12-31t23:59:60"])("%s is none, because it may mean local time", (text) => {
    expect([readTimestamp(text), isDateTime(text), lacksOffset(text)]).toEqual([undefined, false, true]);
    expect(judgeTimestamp(text)).toMatch(/^has no offset.*2026-11-22T02:00:00Z.*\+01:00/);
    expect(readTimestamp(text, asUtc)).toBe(readTimestamp(`${text}Z`));
  });

  it("is read as local time where the caller knows the zone, but only if it has no offset", () => {
    const late = (shown: number): number => shown + 3_600_000;
    expect(readTimestamp("2026-03-06T09:00", late)).toBe(Date.UTC(2026, 2, 6, 10));
    expect(judgeTimestamp("2026-03-06", late)).toBe(Date.UTC(2026, 2, 6, 1));
    expect(readTimestamp("2026-03-06T09:00Z", late)).toBe(Date.UTC(2026, 2, 6, 9));
    // the end of a day in UTC, in a zone that is an hour behind
    expect(readTimestamp("2026-12-31T22:59:60", late)).toBe(Date.UTC(2027, 0, 1));
    expect(readTimestamp("2026-12-31T23:59:60", late)).toBeUndefined();
  });
});

describe("a moment as a number", () => {
  it("is whole milliseconds since 1970, as far as dates go", () => {
    expect([readTimestamp(5.9), readTimestamp(-5.9), readTimestamp(lastMs)]).toEqual([5, -5, lastMs]);
    expect([lastMs + 1, Number.NaN, Number.POSITIVE_INFINITY].map((at) => readTimestamp(at))).toEqual([undefined, undefined, undefined]);
    expect([null, undefined, {}, true, new Date(0)].map((at) => readTimestamp(at))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("is not before 1970 where something waits for it, and text before 1970 is as past as 1970", () => {
    expect(judgeTimestamp(-1)).toContain("milliseconds since 1970");
    expect(judgeTimestamp(0)).toBe(0);
    expect(judgeTimestamp("1969-07-20T20:17:40Z")).toBe(0);
  });
});
