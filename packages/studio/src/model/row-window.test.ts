import { describe, expect, it } from "vitest";
import { rowWindow } from "./row-window.ts";

describe("rowWindow", () => {
  it("gives the rows in sight and a few around them, however long the list is", () => {
    expect(rowWindow(0, 320, 32, 100_000)).toEqual({ first: 0, end: 16 });
    expect(rowWindow(3_200, 320, 32, 100_000)).toEqual({ first: 94, end: 116 });
    expect(rowWindow(0, 320, 32, 3)).toEqual({ first: 0, end: 3 });
    expect(rowWindow(0, 0, 32, 0)).toEqual({ first: 0, end: 0 });
    // the list has become shorter than where it was scrolled to
    expect(rowWindow(9_000, 320, 32, 5)).toEqual({ first: 5, end: 5 });
  });
});
