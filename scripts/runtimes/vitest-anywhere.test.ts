import { describe, expect, it } from "vitest";
import * as anywhere from "./vitest-anywhere.ts";

/** Runs a test file whose contents are `write`. */
function run(write: () => void): Promise<anywhere.Report> {
  return anywhere.runFiles({ "a.test.ts": async () => write() });
}

describe("the runner of tests for runtimes without vitest", () => {
  it("counts what passed, was skipped and failed, each with its titles", async () => {
    const report = await run(() => {
      anywhere.describe("sums", () => {
        anywhere.it("are right", () => anywhere.expect(1 + 1).toBe(2));
        anywhere.it("are wrong", () => anywhere.expect({ a: [1] }).toEqual({ a: [2] }));
        anywhere.it("are left out", (({ skip }: { skip(): void }) => skip()) as never);
        anywhere.it("come late", async () => {
          await Promise.resolve();
          throw new TypeError("late");
        });
      });
    });
    expect(report).toMatchObject({ passed: 1, skipped: 1 });
    expect(report.failures.map(({ test }) => test)).toEqual(["a.test.ts > sums > are wrong", "a.test.ts > sums > come late"]);
    expect(report.failures[1]!.error).toBe("TypeError: late");
  });

  it("counts a hook that fails, a suite that throws and a file that does not load as failures", async () => {
    const report = await anywhere.runFiles({
      "a.test.ts": () => Promise.reject(new TypeError("no such module")),
      "b.test.ts": async () => {
        anywhere.beforeAll(() => Promise.reject(new TypeError("no server")));
        anywhere.it("runs all the same", () => undefined);
        anywhere.describe("broken", () => {
          throw new TypeError("not written");
        });
      },
    });
    expect(report).toMatchObject({ passed: 1, skipped: 0 });
    expect(report.failures.map(({ error }) => error)).toEqual([
      "TypeError: no such module",
      "TypeError: not written",
      "TypeError: no server",
    ]);
  });

  it("runs hooks around each test, those of outer suites first, and the ends the other way round", async () => {
    const seen: string[] = [];
    await run(() => {
      anywhere.beforeEach(() => seen.push("outer"));
      anywhere.afterEach(() => seen.push("/outer"));
      anywhere.describe("inner", () => {
        anywhere.beforeAll(() => seen.push("all"));
        anywhere.afterAll(() => seen.push("/all"));
        anywhere.beforeEach(() => seen.push("inner"));
        anywhere.afterEach(() => seen.push("/inner"));
        anywhere.it("test", { timeout: 5 }, () => seen.push("test"));
        anywhere.it("fails", () => {
          seen.push("fails");
          throw new TypeError("it fails");
        });
      });
    });
    const around = (name: string): string[] => ["outer", "inner", name, "/inner", "/outer"];
    expect(seen).toEqual(["all", ...around("test"), ...around("fails"), "/all"]);
  });

  it("gives each row of a table as vitest does", async () => {
    const seen: unknown[][] = [];
    const keep = (...args: unknown[]): unknown => seen.push(args);
    await run(() => {
      anywhere.it.each([[1, 2], [[]]])("lists", keep);
      anywhere.it.each([[], "a"])("others", keep);
    });
    expect(seen).toEqual([[1, 2], [[]], [[]], ["a"]]);
  });

  it("has the matchers of vitest", async () => {
    const fails = async (check: () => unknown): Promise<boolean> => {
      const { failures } = await run(() => anywhere.it("check", check as never));
      return failures.length === 1;
    };
    const thrown = (): never => {
      throw new RangeError("out of reach");
    };
    const { expect: check } = anywhere;
    expect(await fails(() => check(thrown).toThrow(/reach/))).toBe(false);
    expect(await fails(() => check(thrown).toThrow(/other/))).toBe(true);
    expect(await fails(() => check({ a: 1, b: undefined }).toEqual({ a: 1 }))).toBe(false);
    expect(await fails(() => check({ a: 1, b: undefined }).toStrictEqual({ a: 1 }))).toBe(true);
    expect(await fails(() => check({ a: { b: 1 } }).toMatchObject({ a: check.objectContaining({ b: 2 }) } as never))).toBe(true);
    expect(await fails(() => check(Promise.resolve(1)).rejects.toThrow())).toBe(true);
    expect(await fails(() => check([1]).not.toContain(1))).toBe(true);
  });
});
