import { expect, test } from "vitest";
import { FakeStorage } from "../../test/storage.fixture.ts";
import { applyTheme, readTheme, writeTheme } from "./theme.ts";

test("a chosen theme holds in this browser; what is stored otherwise is the system's", () => {
  const storage = new FakeStorage();
  expect(readTheme(storage)).toBe("system");
  writeTheme(storage, "dark");
  expect(readTheme(storage)).toBe("dark");
  storage.setItem("stepfold.theme", "purple");
  expect(readTheme(storage)).toBe("system");
});

test("the theme of the system leaves no mark", () => {
  const element = { dataset: {} as DOMStringMap } as HTMLElement;
  applyTheme(element, "dark");
  expect(element.dataset.theme).toBe("dark");
  applyTheme(element, "system");
  expect("theme" in element.dataset).toBe(false);
});
