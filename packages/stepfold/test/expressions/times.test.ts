import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { defaultLimits } from "../../src/core/values/limits.ts";
import { checkWorkflow, prepareStored } from "../../src/engine/workflow/prepared-workflow.ts";
import { compileExpression } from "../../src/expressions/compile-expression.ts";
import { loadFunctions } from "../../src/expressions/load-functions.ts";
import { builtinNodes } from "../../src/nodes/index.ts";

beforeAll(loadFunctions);

const at = "2022-01-01T15:04:05.067Z";
const resultOf = (source: string, input: unknown = at): unknown => compileExpression(source).evaluate({ input, $now: Date.parse(at) });
const errorOf = (source: string, input: unknown = at): { code: string; message: string } => {
  try {
    return { code: "none", message: String(resultOf(source, input)) };
  } catch (error) {
    return error as { code: string; message: string };
  }
};
const formatted = (time: string, pattern: string): unknown => resultOf("date.format(input.time, input.pattern)", { time, pattern });

describe("a format of times", () => {
  // every group of letters, at the beginning of a year that belongs to the last week of the year before
  const groups: Readonly<Record<string, string>> = {
    ...{ y: "2022", yy: "22", yyyy: "2022", yyyyyy: "002022", q: "1", qq: "01", G: "AD" },
    ...{ M: "1", MM: "01", MMM: "Jan", MMMM: "January", MMMMM: "J", L: "1", LL: "01", LLL: "Jan", LLLL: "January", LLLLL: "J" },
    ...{ d: "1", dd: "01", o: "1", ooo: "001", k: "2021", kk: "21", kkkk: "2021", W: "52", WW: "52" },
    ...{ E: "6", EEE: "Sat", EEEE: "Saturday", EEEEE: "S", c: "6", ccc: "Sat", cccc: "Saturday", ccccc: "S" },
    ...{ H: "15", HH: "15", h: "3", hh: "03", a: "PM", m: "4", mm: "04", s: "5", ss: "05" },
    ...{ S: "67", SSS: "067", u: "067", uu: "06", uuu: "0", x: "1641049445067", X: "1641049445" },
    ...{ z: "UTC", Z: "+0", ZZ: "+00:00", ZZZ: "+0000", ZZZZ: "UTC" },
  };

  it.each(Object.entries(groups))("writes %s as %s, by either name and beside anything that is no letter", (pattern, text) => {
    expect([formatted(at, pattern), resultOf(`input.toFormat('${pattern}')`)]).toEqual([text, text]);
    expect(formatted(at, `(${pattern}) é, ${pattern}年'${pattern}'`)).toBe(`(${text}) é, ${text}年${pattern}`);
  });

  it("has no other group of letters: each is refused, and named", () => {
    const letters = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"];
    for (const group of letters.flatMap((letter) => [1, 2, 3, 4, 5, 6, 7].map((count) => letter.repeat(count)))) {
      if (Object.hasOwn(groups, group)) continue;
      for (const source of [`date.format(input, '${group}')`, `input.toFormat('HH ${group}')`, `input.format('${group}')`])
        expect([group, errorOf(source)]).toEqual([group, expect.objectContaining({ code: "EXPRESSION_INVALID" })]);
      const { code, message } = errorOf("date.format(input.time, input.pattern)", { time: at, pattern: `yyyy ${group}` });
      expect([group, code]).toEqual([group, "EXPRESSION_FAILED"]);
      expect(message).toContain(`"${group}" means nothing in a format of times`);
      expect(message).toContain(`Text goes in single quotes: '${group}'`);
    }
  });

  it.each<[pattern: string, text: string]>([
    ["kkkk-'W'WW", "2021-W52"],
    ["EEE, d MMM yyyy", "Sat, 1 Jan 2022"],
    ["hh:mm a", "03:04 PM"],
    ["yyyy-MM-dd'T'HH:mm:ss", "2022-01-01T15:04:05"],
    ["h 'o''clock' ''yy", "3 o'clock '22"],
    ["''''", "'"],
    ["'YYYY-MM-DD'", "YYYY-MM-DD"],
    ["12:00 / 3", "12:00 / 3"],
    ["", ""],
  ])("%s gives %s", (pattern, text) => expect([formatted(at, pattern), formatted(at, pattern)]).toEqual([text, text]));

  it.each<[pattern: string, meant: string]>([
    ["YYYY-MM-DD", "yyyy-MM-dd"],
    ["DD.MM.YYYY HH:mm", "dd.MM.yyyy HH:mm"],
    ["dddd, h:mm A", "EEEE, h:mm a"],
    ["hh:mm:ss.fff tt", "hh:mm:ss.SSS a"],
    ["Q 'of' YY", "q 'of' yy"],
  ])("of another library, %s, is refused with the one that was probably meant", (pattern, meant) => {
    expect(errorOf(`input.toFormat(${JSON.stringify(pattern)})`)).toMatchObject({
      code: "EXPRESSION_INVALID",
      message: expect.stringContaining(`did you mean "${meant}"?`),
    });
  });

  it("with a quote that does not end is refused, also where only the data has it", () => {
    expect(errorOf(`date.format(input, "HH 'Uhr")`)).toMatchObject({
      code: "EXPRESSION_INVALID",
      message: expect.stringContaining("single quote without an end"),
    });
    expect(errorOf("date.format(0, input)", "HH '")).toMatchObject({
      code: "EXPRESSION_FAILED",
      message: expect.stringContaining("single quote without an end"),
    });
    expect(errorOf("date.format(0, input)", "T".repeat(200)).message.length).toBeLessThan(300);
  });

  it("writes hours of half a day, years before the first one, and years of five digits", () => {
    const clock = ["00", "01", "11", "12", "13", "23"].map((hour) => formatted(`2026-03-05T${hour}:00Z`, "h a"));
    expect(clock).toEqual(["12 AM", "1 AM", "11 AM", "12 PM", "1 PM", "11 PM"]);
    expect([formatted("0000-06-01", "y yy yyyy G"), formatted("-000044-03-15", "y yy yyyy G")]).toEqual([
      "0 00 0000 BC",
      "-44 44 -0044 BC",
    ]);
    expect([formatted("+012345-06-01", "yyyy yy"), formatted("1969-12-31T23:59:59.5Z", "X x")]).toEqual(["12345 45", "-1 -500"]);
  });

  it("is paid for by what it writes", () => {
    const dense = "x ".repeat(5_000);
    expect(errorOf("input.list.map(v => date.format(v, input.dense)).length", { list: Array(400).fill(8.64e15), dense }).code).toBe(
      "EXPRESSION_BUDGET",
    );
  });
});

describe("the week of a date", () => {
  /** The number of weeks that have begun since the week with January 4 began: the definition of ISO 8601. */
  const week = (time: number): [year: number, week: number] => {
    const monday = (day: number): number => day - ((new Date(day).getUTCDay() + 6) % 7) * 86_400_000;
    const year = new Date(time).getUTCFullYear();
    const begins = [year + 1, year, year - 1].find((one) => monday(Date.UTC(one, 0, 4)) <= time)!;
    return [begins, 1 + Math.floor((time - monday(Date.UTC(begins, 0, 4))) / (7 * 86_400_000))];
  };

  it("and its year, and the number of the day, are those of ISO 8601 on every day", () => {
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2200, 0, 1) }), (time) => {
        const [year, number] = week(time);
        const day = Math.floor((time - Date.UTC(new Date(time).getUTCFullYear(), 0, 1)) / 86_400_000) + 1;
        expect(resultOf("input.toFormat('k W o E')", time)).toBe(`${year} ${number} ${day} ${new Date(time).getUTCDay() || 7}`);
      }),
    );
  });

  it("can be read as a member of every time that is made", () => {
    for (const time of [
      "$now",
      "DateTime.fromISO(input)",
      "new Date(input)",
      "DateTime.fromSeconds(1641049445)",
      "date.add(input, 'P0D')",
      "date.iso(input)",
    ])
      expect(resultOf(`[${time}.weekNumber, ${time}.weekYear, ${time}.ordinal, ${time}.year]`)).toEqual([52, 2021, 1, 2022]);
    expect(resultOf("[$now.extract('weekNumber'), $now.extract('ORDINAL'), $today.plus('P1D').ordinal]")).toEqual([52, 1, 2]);
    expect(resultOf("[$now.extract('years'), $now.extract('h'), $now.extract('mins')]")).toEqual([2022, 15, 4]);
  });
});

describe("a length of time in an expression", () => {
  it.each<[span: string, iso: string]>([
    ["P7D", "2022-01-08T15:04:05.067Z"],
    ["PT90M", "2022-01-01T16:34:05.067Z"],
    ["PT1.5H", "2022-01-01T16:34:05.067Z"],
    ["P0,5D", "2022-01-02T03:04:05.067Z"],
    ["P1W", "2022-01-08T15:04:05.067Z"],
    ["P1M", "2022-02-01T15:04:05.067Z"],
    ["P1Y2M3DT4H", "2023-03-04T19:04:05.067Z"],
    ["-P1M1D", "2021-11-30T15:04:05.067Z"],
    ["1hr", "2022-01-01T16:04:05.067Z"],
    ["2 hrs, 3 mins", "2022-01-01T17:07:05.067Z"],
    ["2 quarters", "2022-07-01T15:04:05.067Z"],
    ["250", "2022-01-01T15:04:05.317Z"],
  ])("%s", (span, iso) => {
    for (const source of ["date.add(input.at, input.span)", "input.at.plus(input.span)", "DateTime.fromISO(input.at).plus(input.span)"])
      expect(resultOf(source, { at, span })).toBe(iso);
    for (const source of ["date.subtract(input.iso, input.span)", "input.iso.minus(input.span)"])
      expect(resultOf(source, { iso, span })).toBe(iso === "2021-11-30T15:04:05.067Z" ? "2021-12-31T15:04:05.067Z" : at);
  });

  it("has the same units wherever a unit is named", () => {
    expect(resultOf("[date.diff(input, '2022-01-01', 'hr'), '2022-01-01'.diffTo(input, 'HRS')].map(h => Math.floor(h))")).toEqual([15, 15]);
    expect(resultOf("[$now.startOf('wk'), date.startOf(input, 'mins'), $now.endOf('yr')]")).toEqual([
      "2021-12-27T00:00:00.000Z",
      "2022-01-01T15:04:00.000Z",
      "2022-12-31T23:59:59.999Z",
    ]);
    expect(resultOf("$now.plus({ hrs: 1, quarters: 1 })")).toBe("2022-04-01T16:04:05.067Z");
  });
});

describe("a time without an offset in an expression", () => {
  it.each([
    ...["date.parse(TIME)", "date.iso(TIME)", "date.format(TIME)", "date.add(TIME, '1d')", "date.subtract(TIME, '1d')"],
    ...["date.startOf(TIME, 'day')", "date.diff(TIME, 0)", "date.diff(0, TIME)", "DateTime.fromISO(TIME)", "new Date(TIME)"],
    ...["Date.parse(TIME)", "$now.diffTo(TIME)", "(TIME).toDateTime()", "(TIME).toFormat('yyyy')", "(TIME).plus('1d')"],
    ...["(TIME).getTime()", "(TIME).extract('year')", "(TIME).toISO()"],
  ])("%s is refused when the expression is compiled if the time is constant, else when it is evaluated", (source) => {
    const message = expect.stringMatching(/needs ISO text with an offset, such as .*\+01:00/);
    for (const constant of ["'2026-03-06T09:00'", "`2026-03-06 09:00`", "'2026-03-06' + ' 09:00'"])
      expect(errorOf(source.replace("TIME", constant))).toMatchObject({ code: "EXPRESSION_INVALID", message });
    const given = errorOf(source.replace("TIME", "input"), "2026-03-06T09:00");
    expect(given).toMatchObject({ code: "EXPRESSION_FAILED", message });
    // it may be a secret
    expect(given.message).not.toContain("2026-03-06");
    expect(errorOf(source.replace("TIME", "'2026-03-06T09:00Z'")).code).toBe("none");
  });

  it("is refused beside a list of arguments when it is evaluated", () => {
    expect(errorOf("date.iso(...['2026-03-06T09:00'])").code).toBe("EXPRESSION_FAILED");
    expect(errorOf("date.iso(5, ...[])").code).toBe("none");
  });

  it("is read by fromISO if the zone beside it is UTC; no other zone is known here", () => {
    expect(resultOf("DateTime.fromISO('2026-03-06T09:00', { zone: 'utc' })")).toBe("2026-03-06T09:00:00.000Z");
    expect(resultOf("DateTime.fromISO('2026-03-06', { zone: 'Etc/UTC' })")).toBe("2026-03-06T00:00:00.000Z");
    expect(resultOf("DateTime.fromISO('2026-03-06T09:00+01:00', { zone: 'Europe/Vienna' })")).toBe("2026-03-06T08:00:00.000Z");
    expect(resultOf("DateTime.fromISO('2026-03-06', { setZone: true })")).toBe("2026-03-06T00:00:00.000Z");
    for (const time of ["'2026-03-06T09:00'", "'2026-03-06'"])
      expect(errorOf(`DateTime.fromISO(${time}, { zone: 'Europe/Vienna' })`)).toMatchObject({
        code: "EXPRESSION_FAILED",
        message: expect.stringContaining("no zone but UTC"),
      });
    expect(errorOf("DateTime.fromISO('2026-03-06', { zone: 5 })").code).toBe("EXPRESSION_FAILED");
  });
});

describe("a definition with a constant that has no meaning any more", () => {
  const data = {
    at: "{{ date.iso('2026-03-06T09:00') }}",
    zoned: "{{ DateTime.fromISO('2026-03-06', { zone: 'Europe/Vienna' }) }}",
    text: "{{ input.toFormat(\"d. MMMM 'um' T\") }} {{ date.format(input, 'YYYY-MM-dd HH:mm') }}",
    given: '{{ date.format(input, "HH \'Uhr") }}',
  };
  const definition = { id: "w", nodes: [{ id: "n", type: "set", data }], edges: [] };

  it("is told, with the place of each, before anything runs", () => {
    expect(
      checkWorkflow(definition, builtinNodes).map(({ severity, code, pointer, message }) => [
        severity,
        code,
        pointer,
        message.replace(/^.*?character \d+: /s, ""),
      ]),
    ).toEqual([
      ["error", "EXPRESSION_INVALID", "/nodes/0/data/at", expect.stringContaining("date.iso needs ISO text with an offset")],
      ["error", "EXPRESSION_INVALID", "/nodes/0/data/text", expect.stringMatching(/^"T" means nothing.*'T'/)],
      ["error", "EXPRESSION_INVALID", "/nodes/0/data/text", expect.stringContaining('did you mean "yyyy-MM-dd HH:mm"?')],
      ["error", "EXPRESSION_INVALID", "/nodes/0/data/given", expect.stringContaining("without an end")],
    ]);
  });

  it("keeps its meaning if it was stored before", () => {
    const { compiled } = prepareStored(definition, builtinNodes, defaultLimits);
    const template = compiled.nodes.get("n")!.data!;
    expect(template.evaluate({ input: "2022-01-01T15:04" })).toEqual({
      at: "2026-03-06T09:00:00.000Z",
      zoned: "2026-03-06T00:00:00.000Z",
      text: "1. January um T YYYY-01-01 15:04",
      given: "15 'U3r",
    });
  });
});
