import { expect, test } from "vitest";
import { FakeStorage } from "../../../../test/storage.fixture.ts";
import { filtersOf, searchOf } from "../filters/filters.ts";
import { givenViews, SavedViews } from "./saved-views.ts";

test("a view is there again when the page is opened again", () => {
  const storage = new FakeStorage();
  new SavedViews(storage).save(" Declined cards ", "?error=DECLINED");
  expect(new SavedViews(storage).getViews()).toEqual([{ name: "Declined cards", search: "?error=DECLINED" }]);
});

test("a view of the same name is replaced, and views can be removed", () => {
  const views = new SavedViews(new FakeStorage());
  views.save("Mine", "?status=failed");
  views.save("Mine", "?status=paused");
  expect(views.getViews()).toEqual([{ name: "Mine", search: "?status=paused" }]);
  views.remove("Mine");
  expect(views.getViews()).toEqual([]);
});

test("a view without a name is not saved", () => {
  const views = new SavedViews(new FakeStorage());
  views.save("  ", "?status=failed");
  expect(views.getViews()).toEqual([]);
});

test.each([
  "{",
  "7",
  '[1,null,{"name":"x"},{"name":"y","search":"javascript:alert(1)"},{"name":"","search":""}]',
])("stored text that is no list of views is left out: %s", (stored) => {
  const storage = new FakeStorage();
  storage.setItem("stepfold.views", stored);
  expect(new SavedViews(storage).getViews()).toEqual([]);
});

test("whoever shows views is told of changes", () => {
  const views = new SavedViews(new FakeStorage());
  let changes = 0;
  const stop = views.subscribe(() => changes++);
  views.save("Mine", "?status=failed");
  stop();
  views.remove("Mine");
  expect(changes).toBe(1);
});

test("the views that everybody has are written as filters are, so that they are recognised", () => {
  for (const { search } of givenViews) expect(searchOf(filtersOf(search))).toBe(search);
});
