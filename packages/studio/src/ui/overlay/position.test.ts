import { expect, test } from "vitest";
import { floatingPosition } from "./position.ts";

const screen = { width: 1_000, height: 600 };
const box = { left: 100, top: 100, right: 200, bottom: 130 };

test("it floats below, in line with the wanted edge", () => {
  const size = { width: 60, height: 80 };
  expect(floatingPosition(box, size, screen, "start")).toEqual({ left: 100, top: 134 });
  expect(floatingPosition(box, size, screen, "end")).toEqual({ left: 140, top: 134 });
  expect(floatingPosition(box, size, screen, "center")).toEqual({ left: 120, top: 134 });
});

test("it never leaves the window at the sides", () => {
  expect(floatingPosition({ ...box, left: 980, right: 995 }, { width: 200, height: 80 }, screen, "start").left).toBe(792);
  expect(floatingPosition({ ...box, left: 2, right: 20 }, { width: 200, height: 80 }, screen, "end").left).toBe(8);
  expect(floatingPosition(box, { width: 2_000, height: 80 }, screen, "center").left).toBe(8);
});

test("it goes above if there is no room below and more above", () => {
  const low = { ...box, top: 500, bottom: 530 };
  expect(floatingPosition(low, { width: 60, height: 80 }, screen, "start").top).toBe(416);
  expect(floatingPosition(low, { width: 60, height: 900 }, screen, "start").top).toBe(8);
  expect(floatingPosition(box, { width: 60, height: 900 }, screen, "start").top).toBe(134);
});
