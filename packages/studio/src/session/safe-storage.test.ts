import { expect, test } from "vitest";
import { FakeStorage } from "../../test/storage.fixture.ts";
import { SafeStorage } from "./safe-storage.ts";

test("texts are in the storage of the browser", () => {
  const browser = new FakeStorage();
  const storage = new SafeStorage(() => browser);
  storage.setItem("theme", "dark");
  expect(browser.values.get("theme")).toBe("dark");
  expect(new SafeStorage(() => browser).getItem("theme")).toBe("dark");
  storage.removeItem("theme");
  expect([storage.getItem("theme"), storage.isKept(), browser.values.size]).toEqual([null, true, 0]);
});

test.each([
  [
    "cannot even be asked for",
    () => {
      throw new DOMException("The operation is insecure.", "SecurityError");
    },
  ],
  ["is forbidden", () => new FakeStorage({ isForbidden: true })],
])("where the storage %s, texts are kept until the page is left", (_, open) => {
  const storage = new SafeStorage(open);
  expect(storage.getItem("theme")).toBeNull();
  storage.setItem("theme", "dark");
  expect(storage.getItem("theme")).toBe("dark");
  storage.removeItem("theme");
  expect([storage.getItem("theme"), storage.isKept()]).toEqual([null, false]);
});
